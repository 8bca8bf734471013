import type { IdentityError } from '../errors/identityError.ts';

/** A number of places for calls. Above it they are rejected instead of queued: their clients know whether to wait. */
export class ConcurrencyLimit {
  readonly #limit: number;
  readonly #rejection: (limit: number) => IdentityError;
  #running = 0;

  /** @param rejection creates the error of a call above the limit */
  constructor(limit: number, rejection: (limit: number) => IdentityError) {
    this.#limit = limit;
    this.#rejection = rejection;
  }

  get isFull(): boolean {
    return this.#running >= this.#limit;
  }

  /** Throws while no place is free, before the body of a call is received. Takes none, since a body may take its time. */
  check(): void {
    if (this.isFull) throw this.#rejection(this.#limit);
  }

  /** Takes a place until it is disposed of, which may happen repeatedly. */
  enter(): Disposable {
    this.check();
    this.#running++;
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#running--;
        isHeld = false;
      },
    };
  }
}

/** The numbers of open connections or requests by a key, such as the client. */
export class OpenCounts<Key> {
  readonly #counts = new Map<Key, number>();

  of(key: Key): number {
    return this.#counts.get(key) ?? 0;
  }

  add(key: Key): void {
    this.#counts.set(key, this.of(key) + 1);
  }

  remove(key: Key): void {
    const others = this.of(key) - 1;
    if (others > 0) this.#counts.set(key, others);
    else this.#counts.delete(key);
  }
}
