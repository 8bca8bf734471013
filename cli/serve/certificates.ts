import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { certificateInvalid } from '../../shared/errors/commandErrors.ts';
import type { RunningServer } from '../../shared/http/serve.ts';
import type { Certificate } from '../../shared/http/server.ts';
import { log } from '../../shared/log.ts';

const CERT_OPTION = 'tls-cert-file';
const KEY_OPTION = 'tls-key-file';

/** The PEM files of a certificate and its key. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

/**
 * Reads a certificate and its key.
 * @throws IdentityError that says what is wrong with which file, and repeats nothing of it
 */
export async function readCertificate(files: CertificateFiles): Promise<Certificate> {
  const cert = await readText(files.cert, CERT_OPTION);
  const key = await readText(files.key, KEY_OPTION);
  const leaf = parse(() => new X509Certificate(cert), files.cert, CERT_OPTION, 'holds no PEM certificate');
  const privateKey = parse(
    () => createPrivateKey(key),
    files.key,
    KEY_OPTION,
    'holds no PEM private key without a passphrase',
  );
  if (!leaf.checkPrivateKey(privateKey)) {
    throw certificateInvalid(files.key, `--${KEY_OPTION}`, `is not the key of ${files.cert}'s certificate`);
  }
  parse(() => createSecureContext({ cert, key }), files.cert, CERT_OPTION, 'holds a certificate that OpenSSL rejects');
  log.certificateRead(leaf.validToDate.toISOString());
  return { cert, key };
}

/** Gives a server the certificate of its files again at each SIGHUP, such as after they were renewed. */
export function renewOnSignal(files: CertificateFiles, server: Pick<RunningServer, 'renewCertificate'>): Disposable {
  const renew = () => {
    readCertificate(files).then(server.renewCertificate).catch(log.certificateRejected);
  };
  process.on('SIGHUP', renew);
  return { [Symbol.dispose]: () => void process.off('SIGHUP', renew) };
}

async function readText(file: string, option: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw certificateInvalid(file, `--${option}`, `cannot be read: ${reason}`);
  }
}

function parse<Result>(work: () => Result, file: string, option: string, problem: string): Result {
  try {
    return work();
  } catch {
    // The reason of OpenSSL may quote the file, and says less.
    throw certificateInvalid(file, `--${option}`, problem);
  }
}
