import { asWord } from '../as-word.ts';
import { PROGRAM } from '../command.ts';

/** How the operator of a host accepts a changed tool: the host has no command for it, and locks its folder. */
export function howToAccept({ config, data }: { config: string | undefined; data: string | undefined }) {
  return (tool: string): string => {
    if (data === undefined) return 'restart this host; without --data it does not remember tools';
    const file = config === undefined ? '' : ` --config ${asWord(config)}`;
    return `stop this host, then run: ${PROGRAM} tools accept ${tool}${file} --data ${asWord(data)}`;
  };
}
