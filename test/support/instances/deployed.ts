import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { BucketAccess, Deployment } from './deployments.ts';

/** Whether the environment contains the addresses of a deployment. Otherwise the tests start their own. */
export const isDeployed = process.env.ACCEPTANCE_TARGET_URL !== undefined;

const variables = z.object({
  ACCEPTANCE_SOURCE_URL: z.url(),
  ACCEPTANCE_SOURCE_TOKEN: z.string(),
  ACCEPTANCE_TARGET_URL: z.url(),
  ACCEPTANCE_TARGET_TOKEN: z.string(),
  /** Options such as `--firestore PROJECT`. */
  ACCEPTANCE_TARGET_DATABASE: z.string().optional(),
  ACCEPTANCE_BUCKET: z.string().optional(),
  /** The key files of accounts. */
  ACCEPTANCE_EXPORTER: z.string().optional(),
  ACCEPTANCE_IMPORTER: z.string().optional(),
});

/** Returns the deployment in the environment of the tests. */
export async function deployed(): Promise<Deployment> {
  const given = variables.parse(process.env);
  const { ACCEPTANCE_BUCKET: bucket, ACCEPTANCE_EXPORTER: exporter, ACCEPTANCE_IMPORTER: importer } = given;
  const hasBucket = bucket !== undefined && exporter !== undefined && importer !== undefined;
  return {
    source: { url: given.ACCEPTANCE_SOURCE_URL, token: given.ACCEPTANCE_SOURCE_TOKEN, database: undefined },
    target: {
      url: given.ACCEPTANCE_TARGET_URL,
      token: given.ACCEPTANCE_TARGET_TOKEN,
      database: given.ACCEPTANCE_TARGET_DATABASE?.split(' '),
    },
    bucket: hasBucket ? await bucketAccess(bucket, exporter, importer) : undefined,
  };
}

/** Reads the key files of the accounts of a bucket. */
export async function bucketAccess(bucket: string, exporter: string, importer: string): Promise<BucketAccess> {
  return { bucket, exporter: await readFile(exporter, 'base64'), importer: await readFile(importer, 'base64') };
}
