/** Where a secret goes. The vault puts it there; nothing else sees it. */
export class CredentialUse {
  readonly id: string;
  constructor(id: string) {
    this.id = id;
  }
}
