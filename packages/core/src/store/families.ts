/** The data of administration, of which every process has a copy in memory. */
export type FamilyName =
  | 'keys'
  | 'agents'
  | 'apis'
  | 'workflows'
  | 'knowledge'
  | 'credentials'
  | 'registrations'
  | 'pins';

/** Notices when another process has changed data that this one has a copy of. A store that one process owns has none. */
export interface FamilyStore {
  /** A number for each family, which is another one after another process changed it. Own changes do not count. */
  versions(): Promise<ReadonlyMap<FamilyName, number>>;
}
