/** A placeholder for a secret. The vault replaces it; no other code sees the secret. */
export class CredentialUse {
  readonly id: string;
  constructor(id: string) {
    this.id = id;
  }
}
