// A bare NDJSON echo on stdin and stdout: each line parsed and written again, everything of one chunk in one write.
let begun = '';
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (begun + chunk).split('\n');
  begun = lines.pop() ?? '';
  let answer = '';
  for (const line of lines) answer += `${JSON.stringify(JSON.parse(line))}\n`;
  process.stdout.write(answer);
});
