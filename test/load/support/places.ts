/** How long the server may take to notice that a client has left in the middle of a response. */
const LEFT_MS = 5_000;

/** A call that may take a place. */
export interface PlacedCall {
  /** Counts the call from now on: its body is about to end. */
  take(): void;
  /** Whether more calls than there are places were under way at some time during this one. */
  wasExceeded(): boolean;
  /** Ends the call; one that was left in the middle of its response is counted for a while longer. */
  end(isLeft?: boolean): void;
}

/** The calls of one kind that the client has under way. It decides whether a call may get 429. */
export class Places {
  readonly #limit: number;
  readonly #calls = new Set<{ peak: number; hasPlace: boolean }>();
  #taken = 0;

  /** @param limit the server's bound on calls at once */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Begins a call, which takes no place before its body ends. */
  begin(): PlacedCall {
    const call = { peak: this.#taken + 1, hasPlace: false };
    this.#calls.add(call);
    return {
      take: () => {
        call.hasPlace = true;
        this.#taken++;
        // The server rejects a call without a place as soon as there is none for it.
        for (const each of this.#calls) each.peak = Math.max(each.peak, this.#taken + (each.hasPlace ? 0 : 1));
      },
      wasExceeded: () => call.peak > this.#limit,
      end: (isLeft = false) => {
        this.#calls.delete(call);
        if (!call.hasPlace) return;
        if (isLeft) setTimeout(() => this.#taken--, LEFT_MS).unref();
        else this.#taken--;
      },
    };
  }
}
