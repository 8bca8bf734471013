import { defineError } from './identityError.ts';

// Errors of the `identity` command about its files, ports and instances. They appear on standard error.

export const instanceMissing = defineError({
  code: 'NOT_FOUND',
  text: (directory: string) => `no instance in ${directory}: create one with identity init`,
  example: ['./north'],
  when: '`--data` names a directory without an instance. Only `identity init` and `identity restore` create one.',
  remedy: 'Correct `--data`, or create the instance with `identity init`.',
});

export const instanceExists = defineError({
  code: 'ALREADY_EXISTS',
  text: (content: string, directory: string) => `there is ${content} in ${directory}: restore into another directory`,
  example: ['an instance', './north'],
  when: 'The directory of `identity restore` contains files of an instance.',
  remedy: 'Specify a directory without an instance.',
});

export const fileExists = defineError({
  code: 'ALREADY_EXISTS',
  text: (file: string) => `${file} exists: choose another name`,
  example: ['/backups/north.backup'],
  when: '`identity backup` was given the name of a file that exists.',
  remedy: 'Choose another name, or move the file.',
});

export const certificateInvalid = defineError({
  code: 'FAILED_PRECONDITION',
  text: (file: string, option: string, reason: string) => `${file} of ${option} ${reason}`,
  example: ['tls.key', '--tls-key-file', "is not the key of tls.crt's certificate"],
  when: '`identity serve` cannot read its certificate or key, one of them is not PEM, the key is encrypted, or they do not belong together.',
  remedy:
    'Give `--tls-cert-file` the certificate with the intermediate ones after it, and `--tls-key-file` its private key without a passphrase, both PEM.',
});

export const portInUse = defineError({
  code: 'FAILED_PRECONDITION',
  text: (port: number, setting: string) =>
    `port ${port} is in use: stop the program that listens there, or choose another port with ${setting} (0 picks a free one)`,
  example: [8080, '--port'],
  when: 'Another program listens on the port of `identity serve`, or on that of its metrics.',
  remedy: 'Stop the other program, or choose another port with `--port`, or `METRICS_PORT` for the metrics.',
});

export const portForbidden = defineError({
  code: 'FAILED_PRECONDITION',
  text: (port: number, setting: string) =>
    `no permission to listen on port ${port}: choose one above 1023 with ${setting}, and let a proxy listen there`,
  example: [80, '--port'],
  when: 'The operating system reserves low ports for the superuser.',
  remedy: 'Choose a port above 1023.',
});

export const hostUnknown = defineError({
  code: 'FAILED_PRECONDITION',
  text: (host: string) => `this machine has no address ${host}: choose one that it has with --host, such as 127.0.0.1`,
  example: ['192.0.2.1'],
  when: '`identity serve --host` names an address of another machine, or a name without an address.',
  remedy: 'Choose an address of this machine: 127.0.0.1 for local clients, 0.0.0.0 for all networks.',
});
