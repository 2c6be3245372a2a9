import { basename, extname } from 'node:path';
import type { KnowledgeBaseSummary, KnowledgeDocument } from '@dragoman/client';
import type { Command } from 'commander';
import { each, newCommand, PROGRAM, runs } from '../command.ts';
import { type ConnectionOptions, connect, talking, withConnectionOptions } from '../connection.ts';
import type { Context } from '../context.ts';
import { readText } from '../input.ts';
import { noSuchName } from '../no-such-name.ts';
import { table } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import { visible } from '../visible.ts';

export function knowledgeCommand(context: Context): Command {
  return newCommand(context, {
    name: 'knowledge',
    summary: 'list, add and remove the documents that agents can search (needs the admin key)',
    examples: [`${PROGRAM} knowledge list`, `${PROGRAM} knowledge add rules returns.md shipping.md --agent "*"`],
  })
    .addCommand(listCommand(context))
    .addCommand(addCommand(context))
    .addCommand(removeCommand(context));
}

function listCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'knowledge list',
    summary: 'list all knowledge bases, their size and who may search them',
    examples: [`${PROGRAM} knowledge list`],
  });
  withConnectionOptions(command, 'admin');
  return runs<ConnectionOptions>(command, context, async (options) => {
    const connection = await connect(options, context, 'admin');
    const bases = await talking(connection, 'admin', () => connection.client.admin.knowledge.list());
    context.terminal.out(
      options.json ? `${JSON.stringify({ knowledge_bases: bases })}\n` : baseTable(bases, context.terminal),
    );
    return 0;
  });
}

function baseTable(bases: readonly KnowledgeBaseSummary[], terminal: Terminal): string {
  const rows = bases.map(({ id, documents, agents, description }) => [
    id,
    String(documents),
    agents.length === 0 ? 'none' : visible(agents.join(', ').slice(0, 60)),
    visible((description ?? '').slice(0, 80)),
  ]);
  return table(['KNOWLEDGE BASE', 'DOCUMENTS', 'MAY SEARCH', 'DESCRIPTION'], rows, terminal);
}

interface AddOptions extends ConnectionOptions {
  readonly agent: readonly string[];
  readonly description?: string;
}

function addCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'knowledge add',
    summary: 'create or replace a knowledge base; each file becomes a document',
    examples: [`${PROGRAM} knowledge add rules returns.md shipping.md --agent "*"`],
  })
    .argument('<kb_id>', 'its name, as used in searches')
    .argument('<files...>', 'text or Markdown files; the first heading is the title')
    .requiredOption('--agent <id>', 'an agent that may search it; may be repeated, "*" for all', each)
    .option('--description <text>', 'what it is about');
  withConnectionOptions(command, 'admin');
  return runs<AddOptions>(command, context, async (options, [id = '']) => {
    const { agent, description, json } = options;
    const files: readonly string[] = command.processedArgs[1];
    const documents = await Promise.all(files.map((file) => documentIn(file, context)));
    const base = { agents: agent, documents, ...(description !== undefined && { description }) };
    const connection = await connect(options, context, 'admin');
    const kept = await talking(connection, 'admin', () => connection.client.admin.knowledge.put(id, base));
    const count = `${kept.documents} document${kept.documents === 1 ? '' : 's'}`;
    context.terminal.out(json ? `${JSON.stringify(kept)}\n` : `added ${kept.id}: ${count}\n`);
    return 0;
  });
}

async function documentIn(file: string, context: Context): Promise<KnowledgeDocument> {
  const text = await readText(file, context);
  const title = /^#\s+(.+?)\s*$/m.exec(text)?.[1]?.slice(0, LONGEST_TITLE);
  // The id is part of URLs, so other characters of the file name become dashes.
  const id = basename(file, extname(file)).replaceAll(/[^a-zA-Z0-9_.-]/g, '-');
  return { id, text, ...(title !== undefined && { title }) };
}

function removeCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'knowledge remove',
    summary: 'remove a knowledge base with its documents',
    examples: [`${PROGRAM} knowledge remove rules`],
  }).argument('<kb_id>', 'as shown by `knowledge list`');
  withConnectionOptions(command, 'admin');
  return runs<ConnectionOptions>(command, context, async (options, [id = '']) => {
    const connection = await connect(options, context, 'admin');
    const { knowledge } = connection.client.admin;
    const answer = await talking(connection, 'admin', () =>
      knowledge.remove(id).catch((error: unknown) =>
        noSuchName(error, {
          isIt: (refused) => refused.is('not_found'),
          name: id,
          message: `there is no knowledge base ${JSON.stringify(id)}`,
          known: async () => (await knowledge.list()).map((base) => base.id),
          list: `${PROGRAM} knowledge list`,
        }),
      ),
    );
    context.terminal.out(options.json ? `${JSON.stringify(answer)}\n` : `removed ${id}\n`);
    return 0;
  });
}

const LONGEST_TITLE = 200;
