import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { rarely, someDamage } from './byteEdits.ts';
import { editedJson } from './jsonEdits.ts';
import { anyString, anyTree } from './junk.ts';

const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;
const spki = { type: 'spki', format: 'pem' } as const;

/** Keys in PEM that a service account cannot have. */
function otherKeys(): readonly string[] {
  const small = generateKeyPairSync('rsa', {
    modulusLength: 1_024,
    publicKeyEncoding: spki,
    privateKeyEncoding: pkcs8,
  });
  const curve = generateKeyPairSync('ec', { namedCurve: 'P-256', publicKeyEncoding: spki, privateKeyEncoding: pkcs8 });
  const edwards = generateKeyPairSync('ed25519', { publicKeyEncoding: spki, privateKeyEncoding: pkcs8 });
  const locked = generateKeyPairSync('ec', {
    ...{ namedCurve: 'P-256', publicKeyEncoding: spki },
    privateKeyEncoding: { ...pkcs8, cipher: 'aes-256-cbc', passphrase: 'x' },
  });
  const pss = generateKeyPairSync('rsa-pss', {
    modulusLength: 2_048,
    publicKeyEncoding: spki,
    privateKeyEncoding: pkcs8,
  });
  return [small.privateKey, small.publicKey, curve.privateKey, edwards.privateKey, locked.privateKey, pss.privateKey];
}

/** Credentials of other types that Google knows: each could name a URL, a file or a program. */
const otherCredentials = [
  { type: 'external_account', credential_source: { executable: { command: 'touch /x' }, url: 'http://127.0.0.1/' } },
  { type: 'authorized_user', client_id: 'a', client_secret: 'b', refresh_token: 'c' },
  { type: 'impersonated_service_account', service_account_impersonation_url: 'http://127.0.0.1/' },
];

/** Objects of requests that name a bucket, a path and a key file, as JSON texts: sound ones, near ones and others. */
export function keyFields(keyFiles: readonly string[]): fc.Arbitrary<string> {
  const files = keyFiles.map((text): object => JSON.parse(text));
  const others = otherKeys().map((private_key) => ({ ...files[0], private_key }));
  const sound = fc.constantFrom(...keyFiles);
  const edited = editedJson([...files, ...others, ...otherCredentials], 3);
  const file = fc.oneof({ weight: 1, arbitrary: sound }, { weight: 5, arbitrary: edited });
  const packed = fc
    .tuple(file, rarely(4, someDamage), fc.constantFrom('base64', 'base64', 'base64url'), rarely(6, someDamage))
    .map(([text, damage, coding, damageCoded]) => {
      const coded = Buffer.from(damage(Buffer.from(text)).toString(coding));
      return JSON.stringify(damageCoded(coded).toString());
    });
  const key = fc.oneof({ weight: 8, arbitrary: packed }, { weight: 1, arbitrary: anyTree.map(({ text }) => text) });
  const bucket = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('exports', 'others', 'missing') },
    { weight: 1, arbitrary: anyString },
  );
  const path = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('a.json', 'b/c.json', 'd e.json') },
    { weight: 1, arbitrary: anyString },
  );
  return fc
    .tuple(
      fc.constantFrom('bucket', 'Bucket'),
      bucket,
      path,
      fc.constantFrom('serviceaccount_json', 'serviceaccountJson'),
      key,
    )
    .map(([bucketName, name, object, keyName, text]) => {
      return `{"${bucketName}":${JSON.stringify(name)},"path":${JSON.stringify(object)},"${keyName}":${text}}`;
    });
}
