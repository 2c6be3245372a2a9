// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a reference is written like this
import type { Filled } from '../../schema/with-defaults.ts';

const text = { type: 'string', minLength: 1 } as const;
const positive = { type: 'integer', minimum: 1 } as const;

/** `wire.proc` in the configuration: the programs that agents may start. Without it none can be. */
export const ProcShape = {
  type: 'object',
  description: 'Programs that agents may start over the A2E wire (`proc/*`). Default: none.',
  required: ['commands'],
  properties: {
    commands: {
      type: 'object',
      description:
        'The programs, by the name that an agent gives as the first word of `cmd`. An agent needs `proc.NAME` in `permissions.tools`.',
      additionalProperties: {
        type: 'object',
        required: ['command'],
        properties: {
          command: { ...text, description: 'The program to run, without a shell.' },
          args: {
            type: 'array',
            items: text,
            default: [],
            description: 'One pattern for each argument, in order. Each must match the whole argument.',
          },
          more_args: {
            ...text,
            description: 'The pattern for every further argument. Default: no further arguments are allowed.',
          },
          env: {
            type: 'object',
            additionalProperties: { type: 'string' },
            default: {},
            description:
              'Environment variables in addition to PATH and HOME (the working folder). `${NAME}`, `file:PATH` and `vault:ID` are filled in.',
          },
        },
        additionalProperties: false,
      },
    },
    max_seconds: { ...positive, default: 600, description: 'The timeout of one process.' },
    max_output_bytes: {
      ...positive,
      default: 1_048_576,
      description: 'Maximum output of one process that is forwarded; the rest is dropped, and an event reports it.',
    },
    max_per_connection: { ...positive, default: 4, description: 'Maximum number of processes of one connection.' },
    max_processes: { ...positive, default: 32, description: 'Maximum number of processes of all connections.' },
  },
  additionalProperties: false,
} as const;
export type ProcConfig = Filled<typeof ProcShape>;
