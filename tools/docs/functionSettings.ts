import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const settings = z.record(
  z.string(),
  z.object({
    database_role: z.string(),
    memory: z.int(),
    timeout: z.int(),
    concurrency: z.int(),
    master_key: z.boolean(),
  }),
);

const FILE = 'terraform/modules/instance/functions.json';

/** Renders, as a Markdown table, the settings of each function in Google Cloud, which Terraform reads too. */
export function functionSettingsTable(): string {
  const text = readFileSync(join(import.meta.dirname, '../..', FILE), 'utf8');
  const rows = Object.entries(settings.parse(JSON.parse(text))).map(([name, { database_role, ...of }]) =>
    [
      `\`${name}\``,
      `${of.memory} MiB`,
      `\`--max-semi-space-size=8 --max-old-space-size=${of.memory / 2}\``,
      of.concurrency,
      `${of.timeout} s`,
      `\`${database_role}\``,
      of.master_key ? 'yes' : 'no',
    ].join(' | '),
  );
  const head = ['function', 'memory', '`NODE_OPTIONS`', 'concurrency', 'timeout', 'role', 'master key'];
  return [head.join(' | '), head.map(() => '---').join(' | '), ...rows].map((row) => `| ${row} |`).join('\n');
}
