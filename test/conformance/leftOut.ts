import { gzipSync } from 'node:zlib';

/** How a text that was cut off in the recording goes on: `unit` again and again, then `end`, up to the recorded length. */
interface CutOff {
  readonly unit: string;
  readonly end: string;
}

const onPath = (unit: string): CutOff => ({ unit, end: '/otp_email' });

/** What the recordings cut off, by their names. */
const cutOff: Readonly<Record<string, CutOff>> = {
  'validation: message title > 2000 bytes': { unit: 'x', end: '"}]}]}}' },
  'delete otp: user id 201 runes': onPath('x'),
  'delete otp: user id 200 runes': onPath('x'),
  'delete otp: user id 200 multi-byte runes': onPath('%C3%A9'),
  'import: body 4.3 MB': { unit: 'x', end: '"}}]}]}}' },
  'import: body 4.3 MB no auth': { unit: 'x', end: '"}}]}]}}' },
  'import: body 6 MB whitespace padding (small protobuf)': { unit: ' ', end: '"dataOrgs":{"orgs":[]}}' },
};

const noOrganisation = field(1, 'none');
const noFactor = (userId: string) => field(1, userId);

/** Bodies that the recordings give only the length of; `userId` is the user without the factor. */
const binary: Readonly<Record<string, (userId: string) => Uint8Array>> = {
  'import: invalid UTF-8': () => Buffer.concat([Buffer.from('{"timeout":"'), Buffer.of(0xff, 0xfe), Buffer.from('"}')]),
  'export: gzip-encoded body': () => gzipSync('{"orgIds":["none"]}'),
  'grpc-web ExportData (binary)': () => frame(noOrganisation),
  'grpc-web ExportData no auth': () => frame(noOrganisation),
  'connect proto RemoveOTPEmail': noFactor,
  'grpc-web RemoveOTPEmail (no otp)': (userId) => frame(noFactor(userId)),
};

/**
 * A recorded path or body with what the recording left out.
 * @param recordedId the id of the user without the factor on the recorded server
 * @param userId the one here
 * @throws Error when the length is not the recorded one, or nothing is known of what was left out
 */
export function completed(name: string, recorded: string, recordedId: string, userId: string): string | Uint8Array {
  const [, bytes] = /^<(\d+) bytes binary>$/.exec(recorded) ?? [];
  if (bytes !== undefined) {
    const make = binary[name];
    if (make?.(recordedId).length !== Number(bytes)) throw new Error(`${name}: the body has not ${bytes} bytes`);
    return make(userId);
  }
  const [, shown, length] = /^(.*)…\((\d+)(?: bytes)?\)$/s.exec(recorded) ?? [];
  if (shown === undefined) return recorded;
  const missing = cutOff[name];
  if (missing === undefined) throw new Error(`${name}: it is not known how ${shown} goes on`);
  return goneOn(shown, missing, Number(length));
}

function goneOn(shown: string, { unit, end }: CutOff, length: number): string {
  const start = shown.slice(0, shown.indexOf(unit.repeat(3)));
  const count = (length - start.length - end.length) / unit.length;
  const whole = `${start}${unit.repeat(count)}${end}`;
  if (whole.length !== length) throw new Error(`${shown} cannot be made ${length} long`);
  return whole;
}

/** A field of a protobuf message that holds a short text. */
function field(number: number, value: string): Uint8Array {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.of((number << 3) | 2, bytes.length), bytes]);
}

/** A gRPC frame, uncompressed. */
function frame(message: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.of(0, 0, 0, 0, message.length), message]);
}
