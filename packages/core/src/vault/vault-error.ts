/** Reports why the vault cannot be opened, in words for operators. */
export class VaultError extends Error {
  readonly code = 'vault_locked';

  constructor(message: string) {
    super(message);
    this.name = 'VaultError';
  }
}
