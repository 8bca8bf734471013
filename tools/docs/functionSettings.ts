import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

// The settings of the functions in Google Cloud, as Markdown tables, from the files that Terraform reads.

const settingsSchema = z.record(
  z.string(),
  z.object({
    database_role: z.string(),
    memory: z.int(),
    timeout: z.int(),
    concurrency: z.int(),
    master_key: z.boolean(),
    transfers: z.boolean(),
  }),
);

const environmentSchema = z.object({ locals: z.object({ environment: z.record(z.string(), z.string()) }) });

/** The texts that replace Terraform's expressions in the documents. */
const places: Readonly<Record<string, string>> = {
  '${var.project_id}': 'the id of the project',
  '${google_firestore_database.this.name}': 'the name of the database; absent for `(default)`',
  '${join(",", var.cors_origins)}': 'the origins of pages that may call the functions, with commas; absent for none',
  '${google_storage_bucket.transfer["transfers"].name}': 'a bucket for large exports and imports; absent for none',
};

export function functionSettingsTable(): string {
  const rows = Object.entries(read('functions.json', settingsSchema)).map(([name, settings]) => [
    `\`${name}\``,
    `${settings.memory} MiB`,
    settings.concurrency,
    `${settings.timeout} s`,
    `\`${settings.database_role}\``,
    settings.master_key ? 'yes' : 'no',
    settings.transfers ? 'yes' : 'no',
  ]);
  const head = ['function', 'memory', 'concurrency', 'timeout', 'role on the database', 'master key', 'bucket'];
  return table(head, rows);
}

/**
 * Renders the environment of each function.
 * @throws Error if a value has an expression of Terraform without a description
 */
export function functionEnvironmentTable(): string {
  const { environment } = read('environment.tf.json', environmentSchema).locals;
  const rows = Object.entries(environment).map(([name, value]) => {
    const place = places[value];
    if (place === undefined && value.includes('${')) throw new Error(`describe the value ${value} of ${name}`);
    return [`\`${name}\``, place ?? `\`${value}\``];
  });
  return table(['variable', 'value'], rows);
}

function read<Content>(file: string, schema: z.ZodType<Content>): Content {
  const path = join(import.meta.dirname, '../../terraform/modules/instance', file);
  return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
}

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
