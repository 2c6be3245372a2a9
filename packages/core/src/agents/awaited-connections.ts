/** Promises of connections that agents have not opened yet. */
export class AwaitedConnections {
  readonly #awaited = new Map<string, { readonly connected: Promise<void>; readonly onConnected: () => void }>();

  /** Resolves with the next `connected` of this agent. */
  when(id: string): Promise<void> {
    const known = this.#awaited.get(id);
    if (known !== undefined) return known.connected;
    let onConnected = () => {};
    const connected = new Promise<void>((resolve) => {
      onConnected = resolve;
    });
    this.#awaited.set(id, { connected, onConnected });
    return connected;
  }

  connected(id: string): void {
    this.#awaited.get(id)?.onConnected();
    this.#awaited.delete(id);
  }
}
