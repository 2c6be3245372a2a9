import { asWord } from '../as-word.ts';
import { PROGRAM } from '../command.ts';

/** What whoever started a host does to accept a changed tool: the host itself takes no such word, and has its folder to itself. */
export function howToAccept({ config, data }: { config: string | undefined; data: string | undefined }) {
  return (tool: string): string => {
    if (data === undefined) return 'end this host and start it again; without --data it remembers no tool';
    const file = config === undefined ? '' : ` --config ${asWord(config)}`;
    return `end this host, and then ${PROGRAM} tools accept ${tool}${file} --data ${asWord(data)}`;
  };
}
