import type { AgentDefinition, CardPreview } from '@dragoman/client';
import { UNNAMED } from './agent-options.ts';
import { PROGRAM } from './command.ts';
import type { Context } from './context.ts';
import { fail } from './trouble.ts';
import { visible } from './visible.ts';

/** The definition, with the card's values where the operator gave none. */
export function withCard(definition: AgentDefinition, card: CardPreview): AgentDefinition {
  const id = definition.agent_id === UNNAMED ? idFrom(card.name) : definition.agent_id;
  const skills = card.skills.map((skill) => skill.id.slice(0, 256)).filter((skill) => skill !== '');
  return {
    name: visible(card.name),
    ...(card.description !== '' && { description: visible(card.description) }),
    ...(skills.length > 0 && { skills }),
    ...definition,
    agent_id: id,
  };
}

/**
 * Shows the card and asks whether to add the agent. Ends the command if the answer is no, or if there is no terminal to
 * ask at.
 */
export async function confirmCard(
  { agent_id: id, card: url = '' }: AgentDefinition,
  card: CardPreview,
  { yes, terminal }: { readonly yes: boolean; readonly terminal: Context['terminal'] },
): Promise<void> {
  terminal.note(`${previewLines(card).map(visible).join('\n')}\n`);
  if (yes) return;
  if (terminal.ask === undefined) {
    fail({
      code: 'not_confirmed',
      message: 'adding a foreign A2A agent needs a confirmation of its card, and there is no terminal to ask on',
      fixes: [`if the card above is right: ${PROGRAM} agents add ${id} --card ${url} --yes`],
      exitCode: 2,
    });
  }
  const answer = await terminal.ask(`Add this agent as ${id}? [y/N] `);
  if (!/^y(?:es)?$/i.test(answer?.trim() ?? '')) fail({ code: 'not_confirmed', message: `${id} was not added` });
}

function previewLines({
  name,
  description,
  version,
  interfaces,
  auth,
  skills,
  streaming,
  ...card
}: CardPreview): string[] {
  return [
    `${name}${version === '' ? '' : ` ${version}`}${description === '' ? '' : `: ${description}`}`,
    ...interfaces.map(({ binding, version: a2aVersion, url }, index) => {
      return `  ${index === 0 ? 'endpoint   ' : '           '} ${url} (A2A ${a2aVersion}, ${binding}${streaming ? ', streaming' : ''})`;
    }),
    ...card.unusable_interfaces.map((text) => `  not used    ${text}`),
    `  auth        ${auth.length === 0 ? 'none' : auth.map((one) => `${one.name} (${one.kind})`).join(', ')}`,
    ...skills.slice(0, MOST_SHOWN).map((skill) => {
      return `  skill       ${skill.id}${skill.description === '' ? '' : `: ${skill.description}`}`;
    }),
    ...(skills.length > MOST_SHOWN ? [`  and ${skills.length - MOST_SHOWN} more skills`] : []),
  ];
}

/** An id from a name: `Weather & Co.` → `weather-co`. */
function idFrom(name: string): string {
  const id = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 40);
  if (id.length >= 3) return id;
  return fail({
    code: 'usage',
    message: `cannot derive an id from the name of the card, ${JSON.stringify(visible(name))}`,
    fixes: [`${PROGRAM} agents add AGENT_ID --card URL`],
    exitCode: 2,
  });
}

const MOST_SHOWN = 20;
