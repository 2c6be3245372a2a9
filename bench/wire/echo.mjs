// A bare NDJSON echo on stdin and stdout: each line parsed and written again, everything of one chunk in one write.
let partial = '';
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (partial + chunk).split('\n');
  partial = lines.pop() ?? '';
  let answer = '';
  for (const line of lines) answer += `${JSON.stringify(JSON.parse(line))}\n`;
  process.stdout.write(answer);
});
