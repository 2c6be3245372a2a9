import type { Static } from '@dragoman/protocols';

/** What a schema accepts, with what its defaults put in. */
export type Filled<Schema> = Schema extends { readonly type: 'object'; readonly properties: infer Members }
  ? {
      readonly [Key in keyof Members as IsThere<Schema, Members, Key> extends true ? Key : never]: Filled<Members[Key]>;
    } & {
      readonly [Key in keyof Members as IsThere<Schema, Members, Key> extends true ? never : Key]?: Filled<
        Members[Key]
      >;
    }
  : Static<Schema>;

type IsThere<Schema, Members, Key extends keyof Members> = Members[Key] extends { readonly default: unknown }
  ? true
  : Schema extends { readonly required: readonly (infer Name)[] }
    ? Key extends Name
      ? true
      : false
    : false;
