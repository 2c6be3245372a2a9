import { PROGRAM } from '../command.ts';
import { type ConnectionOptions, findServer, nothingAnswers } from '../connection.ts';
import type { Context, ExitCode } from '../context.ts';
import { type DevKeys, devDataIn } from '../dev-keys.ts';
import { LISTEN_PORT, listenCertificate } from '../listen/certificate.ts';
import { healthAt } from '../serve/port-holder.ts';
import { fail, type Trouble } from '../trouble.ts';
import { Narrator } from './narrator.ts';
import type { PrivateDemo } from './private-demo.ts';
import { Callbacks, stageOn } from './stage.ts';
import { runStory } from './story.ts';

export type TourOptions = Pick<ConnectionOptions, 'url' | 'data'>;

/** The `tour` command: on the running server of `dragoman dev`, otherwise on a server of its own. */
export async function tour(options: TourOptions & { json: boolean }, context: Context): Promise<ExitCode> {
  const { terminal, onSignal } = context;
  const narrator = new Narrator({ terminal, json: options.json });
  const over = new AbortController();
  const forget = onSignal(() => over.abort());
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(TOUR_MS)]);
  try {
    await onServer(options, context, async ({ keys, callbacks, data }) => {
      if (!options.json) terminal.note(`The tour uses ${keys.url}.\n`);
      await runStory(stageOn(keys, { callbacks, data, signal }), narrator);
    });
  } finally {
    forget();
  }
  narrator.end();
  return narrator.failed === 0 ? 0 : 1;
}

async function onServer(
  options: TourOptions,
  context: Context,
  action: (demo: PrivateDemo) => Promise<void>,
): Promise<void> {
  const { url, dev } = findServer(options, context);
  const health = await healthAt(url);
  if (health === undefined && options.url !== undefined) fail(nothingAnswers(url));
  if (health === undefined) {
    context.terminal.note(
      `Cannot connect to ${url}, so the tour starts its own server (${PROGRAM} dev starts a server that keeps running).\n`,
    );
    const { withPrivateDemo } = await import('./private-demo.ts');
    return withPrivateDemo(context, action);
  }
  if (dev === undefined) fail(noDemo(url, health.isDragoman));
  const data = devDataIn(options, context);
  await using callbacks = await openCallbacks(dev, data, context);
  await action({ keys: { ...dev, url }, callbacks, data });
}

/** Receives callbacks on a port that the server may send them to. */
async function openCallbacks(dev: DevKeys, data: string, { now }: Context): Promise<Callbacks> {
  const certificate = listenCertificate(data, now());
  const listen = (port: number) => Callbacks.listen(port, certificate, () => dev.url);
  return listen(dev.callback_port ?? LISTEN_PORT)
    .catch(() => listen(LISTEN_PORT))
    .catch((error: Error) =>
      fail({
        code: 'port_taken',
        message: `the tour cannot receive callbacks: ${error.message}`,
        fixes: [
          `stop the program that listens there, such as ${PROGRAM} listen`,
          `or start the server again: ${PROGRAM} dev`,
        ],
      }),
    );
}

function noDemo(url: string, isDragoman: boolean): Trouble {
  const what = isDragoman ? 'is not a server of dragoman dev, or stores its keys elsewhere' : 'is not Dragoman';
  return {
    code: 'no_demo',
    message: `the program at ${url} ${what}; the tour needs the demo`,
    fixes: [
      `start one: ${PROGRAM} dev --port 0`,
      `or give the folder with its keys: ${PROGRAM} tour --data FOLDER`,
      `or run the checks: ${PROGRAM} doctor`,
    ],
  };
}

const TOUR_MS = 60_000;
