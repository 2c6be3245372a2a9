/** The part of `pg`'s client that the store uses. Its pool is not used: `database.ts` manages the connections. */
declare module 'pg/lib/client.js' {
  import type { EventEmitter } from 'node:events';
  import type { ConnectionOptions } from 'node:tls';

  export interface ClientConfig {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly password?: string | undefined;
    readonly database: string;
    readonly options: string;
    readonly application_name: string;
    readonly ssl: boolean | ConnectionOptions;
    readonly connectionTimeoutMillis: number;
    readonly keepAlive: boolean;
    readonly pipeline: boolean;
    readonly types: { getTypeParser(oid: number, format?: string): (value: string) => unknown };
  }

  export interface QueryResult {
    readonly rows: readonly unknown[];
    readonly rowCount: number | null;
  }

  export default class Client extends EventEmitter {
    constructor(config: ClientConfig);
    readonly connection: { readonly stream: { destroy(): void } };
    connect(): Promise<unknown>;
    query(query: { name?: string; text: string; values?: readonly unknown[] }): Promise<QueryResult | QueryResult[]>;
    end(): Promise<void>;
    on(event: 'notification', listener: (message: { channel: string; payload?: string }) => void): this;
    on(event: 'error' | 'end', listener: () => void): this;
  }
}
