/** Sends a line and waits for the line with its id; nothing else. */
export class RawPeer {
  #stdin;
  #waiting = new Map();

  constructor({ stdin, stdout }) {
    this.#stdin = stdin;
    let partial = '';
    stdout.setEncoding('utf8').on('data', (chunk) => {
      const lines = (partial + chunk).split('\n');
      partial = lines.pop() ?? '';
      for (const line of lines) {
        const { id, req_id = id } = JSON.parse(line);
        this.#waiting.get(req_id)?.(line);
        this.#waiting.delete(req_id);
      }
    });
  }

  ask(message) {
    return new Promise((resolve) => {
      this.#waiting.set(message.id, resolve);
      this.tell(message);
    });
  }

  tell(message) {
    this.#stdin.write(`${JSON.stringify(message)}\n`);
  }
}
