import { commands } from '../../cli/commands/commands.ts';
import { parseValues } from '../../cli/commands/parseValues.ts';
import type { OpenInstance } from '../../cli/terminal/command.ts';
import { routes as removalRoutes } from '../../functions/removeOtpEmail/app.ts';
import { storeUnavailable } from '../../shared/errors/storeErrors.ts';
import { createApp } from '../../shared/http/app.ts';
import { openStore, type StoreLocation } from '../../shared/store/openStore.ts';
import { decorateStore, type Store, type TransactionWork } from '../../shared/store/store.ts';
import { memoryTrail } from '../support/audit/memoryTrail.ts';
import { servedInstance, type TestInstance, testInstance } from '../support/instances/testInstance.ts';

/**
 * The interruption of an import: its process dies before or after a commit, or its client disconnects after a commit, or
 * during a commit, which then has no effect. With `repeats`, the response to a commit is lost, and the import continues.
 */
export type End = 'dies before' | 'dies after' | 'client leaves after' | 'client leaves during' | 'repeats';

/** The instance that the machine drives, by its requests and its commands. */
export interface System {
  readonly store: Store;
  /** Counts a step. */
  readonly onStep: () => void;
  readonly instance: TestInstance;
  /** Imports with an interruption at a commit, and returns the status. */
  importUntil(body: unknown, end: End, commit: number): Promise<Response>;
  /** Imports, and starts another call at a commit, which runs at the same time. Returns the results of both. */
  importBeside<Other>(body: unknown, moment: Moment, other: () => Promise<Other>): Promise<[Response, Other]>;
  /** Exports, and makes another call in the midst of the export's reads. */
  exportBeside(body: object, read: number, other: () => Promise<void>): Promise<Response>;
  /** Imports without an interruption. */
  import(body: unknown): Promise<Response>;
  removeOtpEmail(token: string, userId: string): Promise<Response>;
  /** Runs a command of `identity`, and returns its JSON output, or its error. */
  run(name: string, positionals: readonly string[], options?: CommandOptions): Promise<Printed>;
}

/** The options of a command; flags are true. */
type CommandOptions = Readonly<Record<string, string | true | undefined>>;

/** A response to a request. */
export interface Response {
  readonly status: number;
  readonly text: string;
}

/**
 * A commit of an import, and the turns of the event loop for which the import waits there; commit 0 is the moment before the
 * import takes the lock.
 */
interface Moment {
  readonly commit: number;
  readonly turns: number;
}

/** A command's output, or its error. */
export type Printed = { readonly json: unknown } | { readonly error: unknown };

/** Serves an empty database. The caller closes the system's store. */
export async function systemOn(location: StoreLocation, onStep: () => void): Promise<System> {
  const store = await openStore(location);
  const fuse = new Fuse(store);
  const instance = await testInstance(store, 'machine', { store: fuse.store });
  const removal = createApp({ routes: removalRoutes({ store, audit: memoryTrail().audit, now: () => new Date() }) });
  const plain = servedInstance(store, instance);
  const answer = async (response: globalThis.Response | Promise<globalThis.Response>) => {
    const { status } = await response;
    return { status, text: await (await response).text() };
  };
  return {
    store,
    onStep,
    instance,
    async importUntil(body, end, commit) {
      const signal = fuse.light(end, commit);
      const headers = { authorization: `Bearer ${instance.token}`, 'content-type': 'application/json' };
      const request = { method: 'POST', headers, body: JSON.stringify(body), signal };
      try {
        return await answer(instance.app.request('/admin/v1/import', request));
      } finally {
        fuse.out();
      }
    },
    import: (body) => plain.attempt('import', body),
    async importBeside(body, moment, other) {
      let running: ReturnType<typeof other> | undefined;
      fuse.meet(moment, () => {
        running = other();
      });
      try {
        const response = await instance.attempt('import', body);
        return [response, await (running ?? other())];
      } finally {
        fuse.out();
      }
    },
    exportBeside(body, read, other) {
      const reading = servedInstance(storeWithRead(store, read, other), instance);
      return reading.attempt('export', body);
    },
    removeOtpEmail: (token, userId) =>
      answer(
        removal.request(`/v2/users/${userId}/otp_email`, {
          method: 'DELETE',
          headers: { authorization: `Bearer ${token}` },
        }),
      ),
    run: (name, positionals, options = {}) => runCommand({ store, location }, name, positionals, options),
  };
}

async function runCommand(
  database: Pick<OpenInstance, 'store' | 'location'>,
  name: string,
  positionals: readonly string[],
  options: CommandOptions,
): Promise<Printed> {
  const command = commands.find((one) => one.name === name);
  if (command === undefined || command.instance === 'none') throw new Error(`there is no command ${name}`);
  const { stdin, stdout, stderr } = process;
  const { signal } = new AbortController();
  const surroundings = { stdin, stdout, stderr, environment: { DATA_DIR: 'unused' }, now: new Date(), signal };
  const given = Object.entries(options).flatMap(([option, value]) =>
    value === undefined ? [] : [[option, value === true ? [] : [value]]],
  );
  try {
    const values = await parseValues(command, { positionals, options: Object.fromEntries(given) });
    const output = await command.run({
      ...database,
      ...surroundings,
      ...values,
      defaultName: 'machine',
      print: async () => {},
    });
    return { json: output !== undefined && 'json' in output ? output.json : undefined };
  } catch (error) {
    return { error };
  }
}

/** A store with a call in the midst of the reads of its snapshots. */
function storeWithRead(store: Store, read: number, call: () => Promise<void>): Store {
  let readsLeft = read;
  const pass = async () => {
    if (--readsLeft === 0) await call();
  };
  return decorateStore(store, (inner) => ({
    snapshot: async () => {
      const snapshot = await inner.snapshot();
      return {
        readTime: snapshot.readTime,
        getMany: async (keys, fields) => {
          await pass();
          return snapshot.getMany(keys, fields);
        },
        async *scan(range) {
          for await (const documents of snapshot.scan(range)) {
            await pass();
            yield documents;
          }
        },
        [Symbol.asyncDispose]: () => snapshot[Symbol.asyncDispose](),
      };
    },
  }));
}

/** The start of another call, and the commits until then. */
interface Meeting extends Pick<Moment, 'turns'> {
  commitsLeft: number;
  readonly start: () => void;
}

/** A store that ends an import at one of its commits. */
class Fuse {
  readonly store: Store;
  private end: End | undefined;
  private commitsLeft = 0;
  private isDead = false;
  private client = new AbortController();
  private meeting: Meeting | undefined;

  constructor(store: Store) {
    this.store = decorateStore(store, (inner, call) =>
      this.around(inner, call?.signal ?? new AbortController().signal),
    );
  }

  private around(store: Store, signal: AbortSignal): Partial<Store> {
    const commit = <Result>(attempt: (lost: readonly Result[]) => Promise<Result>) => this.commit(attempt, signal);
    const read = <Result>(work: () => Promise<Result>) => this.read(work);
    return {
      getMany: (keys, fields) => read(() => store.getMany(keys, fields)),
      snapshot: () => read(() => store.snapshot()),
      commit: async (writes) => {
        await this.wait();
        return writes.length === 0 ? store.commit(writes) : commit(() => store.commit(writes));
      },
      transaction: <Result>(work: TransactionWork<Result>, until?: AbortSignal) =>
        commit<Result>((lost) =>
          store.transaction<Result>(async (transaction, earlier) => {
            const result = await work(transaction, [...lost, ...earlier]);
            await this.wait();
            return result;
          }, until),
        ),
      lock: {
        ...store.lock,
        take: async (request) => {
          if (this.meeting?.commitsLeft === 0) await this.start(this.meeting);
          return store.lock.take(request);
        },
      },
    };
  }

  light(end: End, commit: number): AbortSignal {
    this.end = end;
    this.commitsLeft = commit;
    this.client = new AbortController();
    return this.client.signal;
  }

  /**
   * Starts another call before the lock is taken, or at a commit, before its effect and after the reads of its
   * transaction.
   */
  meet({ commit, turns }: Moment, start: () => void): void {
    this.meeting = { commitsLeft: commit, turns, start };
  }

  private async wait(): Promise<void> {
    const { meeting } = this;
    if (meeting !== undefined && --meeting.commitsLeft === 0) await this.start(meeting);
  }

  private async start({ start, turns }: Meeting): Promise<void> {
    start();
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
  }

  out(): void {
    this.meeting = undefined;
    this.end = undefined;
    this.isDead = false;
  }

  private async read<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.isDead) throw storeUnavailable({}, { cause: new Error('the process is dead') });
    return work();
  }

  /** @param attempt gets the result whose response was lost, if a commit is repeated */
  private async commit<Result>(
    attempt: (lost: readonly Result[]) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const work = () => attempt([]);
    if (this.end === undefined || --this.commitsLeft !== 0) return this.read(work);
    if (this.end === 'repeats') {
      const lost = await this.read(work);
      return this.read(() => attempt([lost]));
    }
    if (this.end === 'client leaves during') {
      this.client.abort();
      signal.throwIfAborted();
    }
    if (this.end === 'dies before') this.isDead = true;
    const result = await this.read(work);
    if (this.end === 'client leaves after') this.client.abort();
    else this.isDead = true;
    return this.isDead ? this.read(work) : result;
  }
}
