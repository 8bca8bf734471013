import { defineInstanceCommand, flag, optional, UsageError } from '../command.ts';
import type { CertificateFiles } from '../serve.ts';

export const serve = defineInstanceCommand({
  name: 'serve',
  summary: 'serve the three functions on one port, until SIGINT or SIGTERM',
  arguments: [],
  options: {
    host: optional('HOST', 'address to listen on; by default 127.0.0.1'),
    port: optional('PORT', 'port to listen on; by default 8080'),
    docs: flag('add the interactive documentation of the functions at /docs'),
    'tls-cert-file': optional(
      'FILE',
      'serve HTTPS with the certificate of this PEM file, followed by the intermediate ones; SIGHUP reads it again',
    ),
    'tls-key-file': optional('FILE', "the certificate's private key, PEM"),
  },
  examples: [
    'serve --data ./north --port 8080 --docs',
    'serve --data ./north --host 0.0.0.0 --port 443 --tls-cert-file tls.crt --tls-key-file tls.key',
  ],
  run: async (call) => {
    const { host = '127.0.0.1', port = 8080, docs, 'tls-cert-file': cert, 'tls-key-file': key } = call.options;
    const certificates = certificateFiles(cert, key);
    const server = await import('../serve.ts');
    await server.serve(call, { host, port, docs, certificates });
    return undefined;
  },
});

/** @throws UsageError for one without the other */
function certificateFiles(cert: string | undefined, key: string | undefined): CertificateFiles | undefined {
  if (cert !== undefined && key !== undefined) return { cert, key };
  if (cert === undefined && key === undefined) return undefined;
  throw new UsageError('TLS needs both --tls-cert-file and --tls-key-file');
}
