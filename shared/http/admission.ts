import { tooManyCalls } from '../errors/httpErrors.ts';

/**
 * The places of one kind of call, of which at most `limit` run at once. Further calls get 429 instead of a queue: their
 * clients know whether to wait.
 */
export class Admission {
  readonly #kind: string;
  readonly #limit: number;
  #running = 0;

  /** @param kind names the calls, in the plural */
  constructor(kind: string, limit: number) {
    this.#kind = kind;
    this.#limit = limit;
  }

  /** Rejects a call while no place is free, before its body is received. Takes none, since a body may take its time. */
  check(): void {
    if (this.#running >= this.#limit) throw tooManyCalls(this.#kind, this.#limit);
  }

  /** Takes a place until it is disposed of. */
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
