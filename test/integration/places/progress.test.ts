import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { identity } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { exportFileWith } from '../../support/migrations/migrating.ts';
import { startFakeInstance } from '../../support/places/fakeInstance.ts';
import { tokenFileWith } from '../../support/zitadel/placeOfZitadel.ts';

const NDJSON = 'application/x-ndjson';
const events = z.array(z.looseObject({ event: z.string(), records: z.number().optional() }));
const summary = {
  created: { org: 1, humanUsers: 3_999 },
  unchanged: {},
  failed: {},
  notCarried: {},
  warnings: [],
  proved: true,
};
const response = { success: {}, summary };
const progress = (created: number) => ({
  event: 'progress',
  phase: 2,
  phases: 5,
  records: { created: { org: 1, humanUsers: created - 1 } },
  total: { org: 1, humanUsers: 3_999 },
});

/** A part of a response, which is sent once the command has printed the number of imported records. */
interface Part {
  readonly text: string;
  readonly printed?: number;
  /** The phase that the command must have begun. */
  readonly phase?: string;
}

/** Imports into a server that answers with some parts when it has received the file. */
async function importInto(type: string, parts: readonly Part[], isComplete = true) {
  let output = '';
  let look = () => {};
  const written = async (part: string) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    look = () => void (output.includes(part) && resolve());
    look();
    await promise;
  };
  const instance = await startFakeInstance(async (reply) => {
    reply.setHeader('content-type', type);
    await once(reply.req, 'end');
    for (const { text, printed, phase } of parts) {
      if (phase !== undefined) await written(`"phase":"${phase}"`);
      if (printed !== undefined) await written(`"records":${printed},`);
      await new Promise<void>((resolve) => reply.write(text, () => resolve()));
    }
    if (isComplete) reply.end();
    else reply.destroy();
  });
  const people = Array.from({ length: 10 }, (_, index) => person(`person-${index}`));
  const file = await exportFileWith(organisation('acme', { humanUsers: people }));
  const args = ['import', file, '--to', instance.url, '--token-file', await tokenFileWith('some-token'), '--json'];
  const onStdout = (text: string) => {
    output = text;
    look();
  };
  const { code, stdout, stderr } = await identity(args, { onStdout });
  const shown = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return { url: instance.url, code, stderr, shown: events.parse(shown) };
}

const lines = (...given: readonly unknown[]) => given.map((event) => ({ text: `${JSON.stringify(event)}\n` }));

describe('the progress of an import into an instance', () => {
  it('is read from the response, even if lines arrive in pieces', async () => {
    const text = lines(progress(1_000), progress(4_000), { event: 'result', response })
      .map((line) => line.text)
      .join('');
    // The first event ends within the first part, and the second one within the second part.
    const { code, shown } = await importInto(NDJSON, [
      { text: text.slice(0, 200) },
      { text: text.slice(200, -5), printed: 1_000 },
      { text: text.slice(-5), printed: 4_000 },
    ]);
    expect(code).toBe(0);
    const records = shown.filter(({ event }) => event === 'progress').map((event) => event.records);
    expect(records).toEqual(expect.arrayContaining([1_000, 4_000]));
    expect(shown.filter(({ event }) => event === 'phase')).toMatchObject([
      { phase: 'sending', records: 11, succeeded: true },
      { phase: 'importing', records: 4_000, succeeded: true },
    ]);
    expect(shown.at(-1)).toMatchObject({ event: 'result', summary });
  });

  it('names each operation that it waits for once', async () => {
    const holders = ['2026-01-02T03:04:05.678Z', '2026-01-02T03:05:00.000Z'].map((since) => ({
      operation: 'rekey',
      caller: 'root',
      since,
    }));
    const waiting = [0, 0, 1].map((index) => ({ ...progress(1_000), waitingFor: holders[index] }));
    const { code, shown } = await importInto(NDJSON, lines(...waiting, progress(1_000), { event: 'result', response }));
    expect(code).toBe(0);
    expect(shown.filter(({ event }) => event === 'wait')).toEqual(
      holders.map((holder) => ({
        event: 'wait',
        ...holder,
        text: `waiting for another operation to end: rekey, which root began at ${holder.since}`,
      })),
    );
  });

  it('warns once that the timeout will interrupt the import', async () => {
    const late = [149, 200].map((secondsNeeded) => ({
      ...progress(1_000),
      exceedsTimeout: { secondsNeeded, secondsLeft: 10 },
    }));
    const { shown } = await importInto(NDJSON, lines(...late, { event: 'result', response }));
    expect(shown.filter(({ event }) => event === 'warning').map(({ text }) => text)).toEqual([
      'the import probably needs 2m 29s more, but the timeout interrupts the import in 10s: then repeat the command to continue',
    ]);
  });

  it('shows that the instance checks a file that is sent, until it writes', async () => {
    const [begun, result] = lines(progress(1_000), { event: 'result', response });
    const { code, shown } = await importInto(NDJSON, [
      { text: begun?.text ?? '', phase: 'checking' },
      { text: result?.text ?? '' },
    ]);
    expect(code).toBe(0);
    expect(shown.filter(({ event }) => event === 'phase')).toMatchObject([
      { phase: 'sending', records: 11, succeeded: true },
      { phase: 'checking', records: 11, succeeded: true },
      { phase: 'importing', succeeded: true },
    ]);
  });

  it('ends with the result if a server or a proxy responds with plain JSON', async () => {
    const { code, shown } = await importInto('application/json', lines(response));
    expect(code).toBe(0);
    expect(shown.at(-1)).toMatchObject({ event: 'result', summary });
  });

  it('ends with the error of the last line, or reports that the result is missing', async () => {
    const refused = { event: 'error', error: { code: 9, message: 'the manifest does not match' } };
    const unavailable = { event: 'error', error: { code: 14, message: 'the database is unavailable' } };
    const message = async (...given: Parameters<typeof importInto>) => {
      const { url, code, stderr } = await importInto(...given);
      expect(code).toBe(1);
      return stderr.trim().replace(`identity: ${url} `, '');
    };
    expect(await message(NDJSON, lines(refused))).toMatch(/^refuses \/.+: the manifest does not match$/);
    expect(await message(NDJSON, lines(unavailable))).toBe('failed: the database is unavailable: repeat the command');
    const metadata = { operation: 'rekey', caller: 'root', since: '2026-01-02T03:04:05.678Z' };
    const text = 'rekey, which root began at 2026-01-02T03:04:05.678Z, must end before this call can begin';
    const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'INSTANCE_BUSY', domain: 'identity' };
    const error = { code: 14, message: `${text}: retry the request later`, details: [{ ...info, metadata }] };
    expect(await message(NDJSON, lines({ event: 'error', error }))).toBe(`failed: ${text}: repeat the command`);
    const broken =
      /^failed: the connection was lost (?:before the result|during the response to POST \/admin\/v1\/import) \(.*\): repeat the command$/;
    expect(await message(NDJSON, lines(progress(1_000)))).toMatch(broken);
    const cut = [...lines(progress(1_000)), { text: '{"event":', printed: 1_000 }];
    expect(await message(NDJSON, cut, false)).toMatch(broken);
  });

  it('ends with an event that the command cannot read, and does not advise a repetition', async () => {
    const unreadable = { event: 'result', response: { ...response, summary: { ...summary, notCarried: { x: 'y' } } } };
    const { url, code, stderr } = await importInto(NDJSON, lines(progress(1_000), unreadable));
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `identity: ${url} returned no event of an import (response.summary.notCarried.x: expected a number), but ${JSON.stringify(unreadable).slice(0, 100)}...: the import may be complete: compare the versions of the command and of the instance, and check that no gateway changes responses\n`,
    });
  });
});
