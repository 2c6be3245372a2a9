import { asWord } from '../as-word.ts';
import { PROGRAM } from '../command.ts';

/** How the operator of a host accepts a changed tool: the host has no command for it, and locks its folder. */
export function howToAccept({ config, data }: { config: string | undefined; data: string | undefined }) {
  return (tool: string): string => {
    if (data === undefined) return 'end this host and start it again; without --data it remembers no tool';
    const file = config === undefined ? '' : ` --config ${asWord(config)}`;
    return `end this host, and then ${PROGRAM} tools accept ${tool}${file} --data ${asWord(data)}`;
  };
}
