import { ConsoleFiles } from '../console/console-files.ts';
import { type SignInKeys, SignInTokens } from '../console/sign-in-tokens.ts';
import { consoleRoutes } from '../routes/console.ts';
import { VERSION } from '../version.ts';
import type { ServerPart } from './part.ts';
import type { Service } from './service.ts';

export interface ConsolePart extends ServerPart {
  /** The path that opens the console signed in, once; `undefined` where there is no console. */
  signInPath(keys: SignInKeys): string | undefined;
}

/** The web console. */
export function openConsolePart({ config, clock }: Pick<Service, 'config' | 'clock'>): ConsolePart {
  const files = config.console ? ConsoleFiles.open() : undefined;
  const tokens = new SignInTokens(clock);
  return {
    routes: consoleRoutes({ files, tokens, version: VERSION }),
    // Behind #, so that the token reaches no log and no Referer: the page reads it and exchanges it.
    signInPath: (keys) => (files === undefined ? undefined : `/#token=${tokens.issue(keys)}`),
  };
}
