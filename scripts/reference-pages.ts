import { cliPage } from './reference/cli.ts';
import { configPage } from './reference/config.ts';
import { httpPage } from './reference/http.ts';
import { lossesPage } from './reference/losses.ts';
import { messagePages } from './reference/messages.ts';

/** The generated pages by path from the root. */
export async function referencePages(): Promise<Map<string, string>> {
  const pages = new Map([
    ...(await messagePages()),
    ['http.md', await httpPage()],
    ['cli.md', await cliPage()],
    ['config.md', configPage()],
    ['losses.md', lossesPage()],
  ]);
  return new Map([...pages].map(([name, text]) => [`docs/reference/${name}`, `${MADE}${text.trimEnd()}\n`]));
}

const MADE = '<!-- Made by npm run generate:reference; change what it is made from. -->\n\n';
