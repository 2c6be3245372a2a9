/** Why a vault cannot be opened, worded for operators. */
export class VaultError extends Error {
  readonly code = 'vault_locked';

  constructor(message: string) {
    super(message);
    this.name = 'VaultError';
  }
}
