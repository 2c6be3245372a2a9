import type { Static } from '../../static.ts';
import { PathText } from '../value.ts';
import { type OperationDescription, renamed } from './description.ts';

export const STORAGES = ['localStorage', 'sessionStorage', 'file'] as const;

export const StoreDataConfig = {
  type: 'object',
  required: ['inputPath', 'storage', 'key'],
  properties: {
    inputPath: PathText,
    // localStorage is per agent, sessionStorage per execution, and file a file below the agent's own folder.
    storage: { enum: STORAGES },
    key: { type: 'string', minLength: 1, maxLength: 256 },
  },
  additionalProperties: false,
} as const;
export type StoreDataConfig = Static<typeof StoreDataConfig>;

export const StoreData: OperationDescription = {
  summary: 'Stores data under a key; it can be read at /store/<key>.',
  category: 'storage',
  schema: StoreDataConfig,
  members: [
    { at: '/inputPath', is: 'input' },
    { at: '/key', is: 'key' },
  ],
  // The operation catalogue has these words for storage that outlives the execution.
  aliases: [renamed('/storage', { indexedDB: 'localStorage', database: 'localStorage' })],
};
