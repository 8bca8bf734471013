import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  randomBytes,
  randomInt,
} from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { completeFile } from '../../shared/durableFiles.ts';
import { systemCode } from '../../shared/systemCode.ts';
import type { Account } from './access.ts';

export interface LocalServiceAccount extends Account {
  /**
   * The content of the key file, in Google's format. A request can contain it in base64, in its field
   * `serviceaccount_json`.
   */
  readonly json: string;
}

const issuedKey = z.object({ client_email: z.string(), private_key: z.string() });

/**
 * Creates the key file if it is missing, so that every start uses the same key. Only the file's owner can read the
 * file.
 */
export async function createServiceAccount(options: {
  readonly file: string;
  readonly name: string;
}): Promise<LocalServiceAccount> {
  const json = (await readIfExists(options.file)) ?? (await writeNew(options.file, options.name));
  const { client_email, private_key } = issuedKey.parse(JSON.parse(json));
  const publicKeyPem = exportPem(createPublicKey(createPrivateKey(private_key)), 'spki');
  return { clientEmail: client_email, publicKeyPem, privateKeyPem: private_key, json };
}

export async function readIfExists(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function writeNew(file: string, name: string): Promise<string> {
  const json = `${JSON.stringify(await newKeyFile(name), undefined, 2)}\n`;
  await mkdir(dirname(file), { recursive: true });
  await completeFile(file, json);
  return json;
}

async function newKeyFile(name: string): Promise<Record<string, string>> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  const email = `${name}@local.iam.gserviceaccount.com`;
  return {
    type: 'service_account',
    project_id: 'local',
    private_key_id: randomBytes(20).toString('hex'),
    private_key: exportPem(privateKey, 'pkcs8'),
    client_email: email,
    client_id: `1${Array.from({ length: 20 }, () => randomInt(10)).join('')}`,
    auth_uri: 'https://accounts.google.com/o/oauth2/auth',
    token_uri: 'https://oauth2.googleapis.com/token',
    auth_provider_x509_cert_url: 'https://www.googleapis.com/oauth2/v1/certs',
    client_x509_cert_url: `https://www.googleapis.com/robot/v1/metadata/x509/${encodeURIComponent(email)}`,
    universe_domain: 'googleapis.com',
  };
}

function exportPem(key: KeyObject, type: 'pkcs8' | 'spki'): string {
  return key.export({ type, format: 'pem' }).toString();
}
