import { createPublicKey, type KeyObject } from 'node:crypto';

/** The key types that ZITADEL parses, each with its curves, if only some are. */
const supportedTypes: ReadonlyMap<string | undefined, readonly string[] | undefined> = new Map([
  ['rsa', undefined],
  ['dsa', undefined],
  ['ec', ['secp224r1', 'prime256v1', 'secp384r1', 'secp521r1']],
  ['ed25519', undefined],
  ['x25519', undefined],
]);

/**
 * Whether a text's first PEM block is a public key: SubjectPublicKeyInfo or PKCS #1, whatever its label says. ZITADEL
 * itself labels SubjectPublicKeyInfo as `RSA PUBLIC KEY`.
 */
export function isPublicKey(pem: string): boolean {
  const der = decodePem(pem);
  return der !== undefined && (isEncodedAs('spki', der) || isEncodedAs('pkcs1', der));
}

/** Decodes the first PEM block as ZITADEL does: lines around the block, and headers in it, are ignored. */
function decodePem(pem: string): Buffer | undefined {
  const block = /^-----BEGIN ([^\r\n-]*)-----[ \t]*\r?\n([^-]*\n)-----END \1-----[ \t]*\r?$/m.exec(pem)?.[2];
  const base64 = block?.replace(/^[^\n]*:[^\n]*$/gm, '').replace(/\s/g, '');
  return base64 !== undefined && /^[A-Za-z0-9+/]+={0,2}$/.test(base64) ? Buffer.from(base64, 'base64') : undefined;
}

function isEncodedAs(type: 'spki' | 'pkcs1', der: Buffer): boolean {
  const key = parse(type, der);
  if (key === undefined || !isSupported(key)) return false;
  // OpenSSL ignores bytes after a key. SubjectPublicKeyInfo ends with the bytes of PKCS #1.
  return key.export({ type: 'spki', format: 'der' }).subarray(-der.length).equals(der);
}

function parse(type: 'spki' | 'pkcs1', der: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: der, format: 'der', type });
  } catch {
    return undefined; // Node tells bytes that are no key from a key by throwing only.
  }
}

function isSupported({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  if (!supportedTypes.has(asymmetricKeyType)) return false;
  const curves = supportedTypes.get(asymmetricKeyType);
  return curves === undefined || curves.includes(asymmetricKeyDetails?.namedCurve ?? '');
}
