// https receivers, each at its own address. Some take the connection and never answer. CERT and KEY are PEM.
import { createServer } from 'node:https';

const [answering, hanging] = process.argv.slice(2).map(Number);
const { CERT: cert, KEY: key } = process.env;
const options = { cert, key };

const places = [];
for (let index = 0; index < answering + hanging; index += 1) {
  const server = createServer(options, (request, response) => {
    request.resume();
    if (index < answering) request.on('end', () => response.writeHead(204).end());
  });
  const host = `127.0.2.${index + 1}`;
  await new Promise((resolve) => server.listen(0, host, resolve));
  places.push({ host, port: server.address().port });
}
process.send({ answering: places.slice(0, answering), hanging: places.slice(answering) });
process.on('disconnect', () => process.exit(0));
