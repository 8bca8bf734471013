import { z } from 'zod';
import type { Exchange } from '../action.ts';
import { type Context, finding, hasStatus, type Step } from '../step.ts';
import { instances } from './credentials.ts';
import { terraform } from './terraform.ts';

const MINUTE_MS = 60_000;
const PAUSE_MS = 30_000;
/** The time for a person to create the records, and for Google to issue the certificates. */
const PATIENCE_MS = 3 * 60 * MINUTE_MS;
const LONGEST_MINUTES = 60;

const outputRecords = terraform('output -json dns_records');
const records = z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string(), data: z.string() })));
type DnsRecord = z.output<typeof records>[string][number];

const health = instances.map(
  (instance): Exchange => ({ kind: 'request', method: 'GET', url: `https://${instance}.$DOMAIN/health` }),
);

/** Waits until both domains serve: says which records to create, and measures the time to the certificates. */
export const waitForDomains: Step = {
  name: 'domains',
  title: 'Wait for the DNS records and the certificates',
  settles: ['certificateTime'],
  actions: [outputRecords, ...health],
  perform: async (context) => {
    const { clock, print, run } = context;
    const wanted = Object.values(records.parse(JSON.parse((await run(outputRecords)).stdout))).flat();
    print('Create these DNS records:');
    for (const { name, type, data } of wanted) print(`  ${name} ${type} ${data}`);
    const deadline = clock.now() + PATIENCE_MS;
    await repeatUntil(context, deadline, 'the DNS records do not exist', () => allExist(context, wanted));
    const existed = clock.now();
    for (const request of health) {
      const serves = async () => hasStatus(await context.send(request), 200);
      await repeatUntil(context, deadline, 'a domain does not serve', serves);
    }
    const minutes = Math.ceil((clock.now() - existed) / MINUTE_MS);
    const expected = `at most ${LONGEST_MINUTES} minutes from the records to the first 200`;
    return [finding('certificateTime', expected, `${minutes} minutes`, minutes <= LONGEST_MINUTES)];
  },
};

async function allExist({ lookup }: Context, wanted: readonly DnsRecord[]): Promise<boolean> {
  const found = wanted.map(async ({ name, type, data }) => {
    const values = await lookup(withoutDot(name), type);
    return values.some((value) => withoutDot(value) === withoutDot(data));
  });
  return (await Promise.all(found)).every((exists) => exists);
}

function withoutDot(name: string): string {
  return name.replace(/\.$/, '').toLowerCase();
}

/** Repeats a check twice a minute. @throws Error after the deadline */
async function repeatUntil(
  { clock, signal }: Context,
  deadline: number,
  failure: string,
  check: () => Promise<boolean>,
): Promise<void> {
  while (!(await check())) {
    if (clock.now() >= deadline) throw new Error(`${failure} after ${PATIENCE_MS / MINUTE_MS} minutes`);
    await clock.sleep(PAUSE_MS, signal);
  }
}
