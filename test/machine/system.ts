import type { OpenInstance } from '../../cli/command.ts';
import { commands } from '../../cli/commands.ts';
import { parseValues } from '../../cli/parseValues.ts';
import { routes as removalRoutes } from '../../functions/removeOtpEmail/app.ts';
import { storeUnavailable } from '../../shared/errors/storeErrors.ts';
import { createApp } from '../../shared/http/app.ts';
import { openStore, type StoreLocation } from '../../shared/store/openStore.ts';
import { type Store, storeForCall } from '../../shared/store/store.ts';
import { memoryTrail } from '../support/audit/memoryTrail.ts';
import { type TestInstance, testInstance } from '../support/instances/testInstance.ts';

/**
 * The interruption of an import: its process dies before or after a commit, or its client disconnects after a commit or
 * during one, which then has no effect.
 */
export type End = 'dies before' | 'dies after' | 'client leaves after' | 'client leaves during';

/** The instance that the machine drives, by its requests and its commands. */
export interface System {
  readonly store: Store;
  /** Counts a step. */
  readonly onStep: () => void;
  readonly instance: TestInstance;
  /** Imports with an interruption at a commit, and returns the status. */
  importUntil(body: unknown, end: End, commit: number): Promise<{ status: number; text: string }>;
  removeOtpEmail(token: string, userId: string): Promise<{ status: number; text: string }>;
  /** Runs a command of `identity`, and returns its JSON output, or its error. */
  run(name: string, positionals: readonly string[], options?: Record<string, string | undefined>): Promise<Printed>;
}

/** A command's output, or its error. */
export type Printed = { readonly json: unknown } | { readonly error: unknown };

/** Serves an empty database. The caller closes the system's store. */
export async function systemOn(location: StoreLocation, onStep: () => void): Promise<System> {
  const store = await openStore(location);
  const fuse = new Fuse(store);
  const instance = await testInstance(store, 'machine', { store: fuse.store });
  const removal = createApp({ routes: removalRoutes({ store, audit: memoryTrail().audit, now: () => new Date() }) });
  const answer = async (response: Response | Promise<Response>) => {
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
  options: Record<string, string | undefined>,
): Promise<Printed> {
  const command = commands.find((one) => one.name === name);
  if (command === undefined || command.instance === 'none') throw new Error(`there is no command ${name}`);
  const { stdin, stdout, stderr } = process;
  const { signal } = new AbortController();
  const surroundings = { stdin, stdout, stderr, environment: { DATA_DIR: 'unused' }, now: new Date(), signal };
  const given = Object.entries(options).flatMap(([option, value]) => (value === undefined ? [] : [[option, [value]]]));
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

/** A store that ends an import at one of its commits. */
class Fuse {
  readonly store: Store;
  private end: End | undefined;
  private commitsLeft = 0;
  private isDead = false;
  private client = new AbortController();

  constructor(store: Store) {
    this.store = this.around(store, new AbortController().signal);
  }

  private around(store: Store, signal: AbortSignal): Store {
    const commit = <Result>(work: () => Promise<Result>) => this.commit(work, signal);
    const read = <Result>(work: () => Promise<Result>) => this.read(work);
    return {
      getMany: (keys, fields) => read(() => store.getMany(keys, fields)),
      snapshot: () => read(() => store.snapshot()),
      commit: (writes) => (writes.length === 0 ? store.commit(writes) : commit(() => store.commit(writes))),
      transaction: (work) => commit(() => store.transaction(work)),
      close: () => store.close(),
      forCall: (call) => this.around(storeForCall(store, call), call.signal),
    };
  }

  light(end: End, commit: number): AbortSignal {
    this.end = end;
    this.commitsLeft = commit;
    this.client = new AbortController();
    return this.client.signal;
  }

  out(): void {
    this.end = undefined;
    this.isDead = false;
  }

  private async read<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.isDead) throw storeUnavailable(new Error('the process is dead'));
    return work();
  }

  private async commit<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    if (this.end === undefined || --this.commitsLeft !== 0) return this.read(work);
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
