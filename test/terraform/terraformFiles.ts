import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { root } from '../../tools/program.ts';

const functionName = z.enum(['removeOtpEmail', 'export', 'import']);

const routesSchema = z.array(z.strictObject({ function: functionName, path: z.string() }));
const probeSchema = z.strictObject({
  function: functionName,
  method: z.literal('GET'),
  path: z.string(),
  status: z.int(),
  content: z.string(),
});
const settingsSchema = z.record(functionName, z.object({ account: z.string() }));
const environmentSchema = z.object({ locals: z.object({ environment: z.record(z.string(), z.string()) }) });

/** The configuration's directory. */
export const terraformDirectory = join(root, 'terraform');

/** A file of the Terraform configuration. */
export function readTerraform(path: string): Promise<string> {
  return readFile(join(terraformDirectory, path), 'utf8');
}

/** Every `.tf` file of the configuration and its modules, without those of the examples. */
export async function readConfiguration(): Promise<{ readonly path: string; readonly text: string }[]> {
  const entries = await readdir(terraformDirectory, { recursive: true, withFileTypes: true });
  const paths = entries
    .map(({ name, parentPath }) => relative(terraformDirectory, join(parentPath, name)))
    .filter((path) => path.endsWith('.tf') && !/(^|\/)(\.terraform|examples)\//.test(path));
  return Promise.all(paths.toSorted().map(async (path) => ({ path, text: await readTerraform(path) })));
}

async function readJson<Value>(schema: z.ZodType<Value>, path: string): Promise<Value> {
  return schema.parse(JSON.parse(await readTerraform(path)));
}

/** What the load balancer sends to which function; `*` stands for one segment of a path. */
export const loadBalancerRoutes = () => readJson(routesSchema, 'modules/edge/routes.json');

/** The request that watches an instance from outside, and the response that it expects. */
export const readProbe = () => readJson(probeSchema, 'modules/instance/probe.json');

/** The settings of each function. */
export const functionSettings = () => readJson(settingsSchema, 'modules/instance/functions.json');

/** The environment variables of every function, with Terraform's own expressions in their values. */
export async function functionEnvironment(): Promise<Readonly<Record<string, string>>> {
  return (await readJson(environmentSchema, 'modules/instance/environment.tf.json')).locals.environment;
}
