import { ConsoleFiles } from '../console/console-files.ts';
import { type SignInKeys, SignInTokens } from '../console/sign-in-tokens.ts';
import { consoleRoutes } from '../routes/console.ts';
import { VERSION } from '../version.ts';
import type { ServerPart } from './part.ts';
import type { Service } from './service.ts';

export interface ConsolePart extends ServerPart {
  /** A path that opens the console signed in. It works once. `undefined` without a console. */
  signInPath(keys: SignInKeys): string | undefined;
}

export function openConsolePart({ config, clock }: Pick<Service, 'config' | 'clock'>): ConsolePart {
  const files = config.console ? ConsoleFiles.open() : undefined;
  const tokens = new SignInTokens(clock);
  return {
    routes: consoleRoutes({ files, tokens, version: VERSION }),
    // The token is behind #, so that it reaches no log and no Referer. The page reads it and exchanges it for the keys.
    signInPath: (keys) => (files === undefined ? undefined : `/#token=${tokens.issue(keys)}`),
  };
}
