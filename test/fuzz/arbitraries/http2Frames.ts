import fc from 'fast-check';
import { END_STREAM, PADDED } from '../../support/http/http2Frames.ts';
import type { Frame } from '../http/conversation.ts';
import type { HttpRequest } from '../http/httpRequest.ts';

/** Requests on streams of one connection, and all frames of it in their order. */
export interface Conversation {
  readonly requests: readonly HttpRequest[];
  readonly frames: readonly Frame[];
}

/** Gives a value in one of so many cases. */
const inOneOf = <Value>(cases: number, arbitrary: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: cases - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

/** Gives mostly what the protocol allows: a connection that has broken it has no more responses. */
const mostly = <Value>(legal: readonly Value[], others: readonly Value[]) =>
  fc.oneof({ weight: 60, arbitrary: fc.constantFrom(...legal) }, { weight: 1, arbitrary: fc.constantFrom(...others) });

/** Bytes of a number. */
function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const stream = mostly([1], [0, 3, 5, 7, 2, 2 ** 31 - 1]);
const increments = mostly([1, 100, 65_535], [0, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1]);
const plain = (type: 'windowUpdate' | 'resetStream' | 'priority' | 'ping' | 'goAway' | 'settings') =>
  fc.record({ type: fc.constant(type), stream, flags: fc.constant(0) });

const windows: fc.Arbitrary<Frame> = fc
  .tuple(plain('windowUpdate'), increments)
  .map(([frame, increment]) => ({ ...frame, payload: uint32(increment) }));
const resets: fc.Arbitrary<Frame> = fc
  .tuple(plain('resetStream'), fc.constantFrom(0, 5, 8, 13, 2 ** 32 - 1))
  .map(([frame, code]) => ({ ...frame, payload: uint32(code) }));
const priorities: fc.Arbitrary<Frame> = fc
  .tuple(plain('priority'), stream, fc.nat(255), fc.boolean())
  .map(([frame, on, weight, isAlone]) => {
    return { ...frame, payload: Buffer.concat([uint32(isAlone ? on + 2 ** 31 : on), Buffer.of(weight)]) };
  });
const pings: fc.Arbitrary<Frame> = fc
  .tuple(plain('ping'), fc.constantFrom(0, 1))
  .map(([frame, flags]) => ({ ...frame, stream: 0, flags, payload: Buffer.alloc(8) }));
const goodbyes: fc.Arbitrary<Frame> = plain('goAway').map((frame) => ({
  ...frame,
  stream: 0,
  payload: Buffer.alloc(8),
}));

/** The settings by their numbers, with values that matter; 2 is push, 8 extended CONNECT, and 99 is none. */
const settingValues = fc.oneof(
  fc.tuple(fc.constant(1), fc.constantFrom(0, 1, 4_096)),
  fc.tuple(fc.constant(2), mostly([0, 1], [2])),
  fc.tuple(fc.constant(3), fc.constantFrom(0, 1, 2 ** 32 - 1)),
  fc.tuple(fc.constant(4), mostly([0, 1, 10, 65_535], [2 ** 31 - 1, 2 ** 31])),
  fc.tuple(fc.constant(5), mostly([16_384, 2 ** 24 - 1], [0, 2 ** 24])),
  fc.tuple(fc.constant(6), fc.constantFrom(0, 100, 2 ** 32 - 1)),
  fc.tuple(fc.constant(8), fc.constantFrom(0, 1)),
  fc.tuple(fc.constant(99), fc.constant(1)),
);
const settings: fc.Arbitrary<Frame> = fc
  .tuple(fc.array(settingValues, { maxLength: 3 }), inOneOf(60, fc.constant('confirmed')))
  .map(([values, confirmed]) => {
    const entries = values.map(([id, value]) => Buffer.concat([Buffer.of(0, id), uint32(value)]));
    // Some confirm what they have, which nobody may.
    return { type: 'settings', stream: 0, flags: confirmed === undefined ? 0 : 1, payload: Buffer.concat(entries) };
  });

/** A frame of any kind, whose length may be a lie. */
const anything: fc.Arbitrary<Frame> = fc
  .tuple(
    fc.oneof({ weight: 5, arbitrary: fc.nat(9) }, { weight: 1, arbitrary: fc.nat(255) }),
    fc.constantFrom(0, 1, 4, 5, 8, 0x20, 0x25, 0xff),
    stream,
    fc.uint8Array({ maxLength: 40 }),
    fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constantFrom(1, 1_000, 70_000) }),
  )
  .map(([type, flags, id, payload, tooLong]) => {
    const head = Buffer.alloc(9);
    head.writeUIntBE(payload.length + tooLong, 0, 3);
    head.writeUInt8(type, 3);
    head.writeUInt8(flags, 4);
    head.writeUInt32BE(id, 5);
    return { type: 'bytes', bytes: Buffer.concat([head, payload]) };
  });

const extra = fc.oneof(
  { weight: 40, arbitrary: windows },
  { weight: 20, arbitrary: priorities },
  { weight: 20, arbitrary: settings },
  { weight: 20, arbitrary: pings },
  { weight: 10, arbitrary: resets },
  { weight: 1, arbitrary: anything },
);

const blockShape = fc.record({
  cuts: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 }) },
  ),
  padding: fc.constantFrom(0, 0, 0, 1, 255),
  priority: inOneOf(4, fc.tuple(mostly([0, 7], [1, 3]), fc.nat(255))),
  between: inOneOf(100, extra),
});

/** Fields of trailers, of which some are none: pseudo headers, and those of the connection. */
const trailerFields = mostly<HttpRequest['headers']>(
  [[], [['x-checksum', 'abc']], [['authorization', 'Bearer other']]],
  [[['content-length', '1']], [[':path', '/']], [['connection', 'close']], [['X-Upper', '1']], [['x', 'a\0b']]],
);

/** All frames of one request: its headers, its body in pieces, its trailers, and others between them. */
function framesOf(request: HttpRequest, id: number): fc.Arbitrary<readonly Frame[]> {
  const { method, target, headers, body = Buffer.of() } = request;
  const pseudo = { ':method': method, ':scheme': 'http', ':path': target, ':authority': 'fuzz' };
  const fields = [...Object.entries(pseudo), ...headers];
  return fc
    .record({
      shape: blockShape,
      pieces: fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 4 }),
      isPadded: fc.boolean(),
      trailers: inOneOf(4, fc.tuple(trailerFields, blockShape)),
      others: fc.oneof(fc.constant([]), fc.array(extra, { maxLength: 2 })),
      isEnded: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
    })
    .map(({ shape, pieces, isPadded, trailers, others, isEnded }) => {
      const isBodyless = body.length === 0 && trailers === undefined;
      const head: Frame = { type: 'headers', stream: id, fields, isLast: isBodyless && isEnded, ...defined(shape) };
      if (isBodyless) return [head, ...others];
      const data = dataFrames(id, body, pieces, { isPadded, isLast: trailers === undefined && isEnded });
      const [lastFields, lastShape] = trailers ?? [];
      const last: Frame[] =
        lastFields === undefined || lastShape === undefined
          ? []
          : [{ type: 'headers', stream: id, fields: lastFields, isLast: isEnded, ...defined(lastShape) }];
      return [head, ...data.slice(0, 1), ...others, ...data.slice(1), ...last];
    });
}

type Shape = typeof blockShape extends fc.Arbitrary<infer Value> ? Value : never;

function defined({ priority, between, ...shape }: Shape) {
  return { ...shape, ...(priority && { priority }), ...(between && { between }) };
}

function dataFrames(
  id: number,
  body: Buffer,
  pieces: readonly number[],
  { isPadded, isLast }: { readonly isPadded: boolean; readonly isLast: boolean },
): Frame[] {
  const ends = [...pieces.filter((end) => end <= body.length).sort((a, b) => a - b), body.length];
  return ends.map((end, index) => {
    const part = body.subarray(ends[index - 1] ?? 0, end);
    const flags = (isLast && index === ends.length - 1 ? END_STREAM : 0) | (isPadded ? PADDED : 0);
    const payload = isPadded ? Buffer.concat([Buffer.of(3), part, Buffer.alloc(3)]) : part;
    return { type: 'data', stream: id, flags, payload };
  });
}

/** Conversations of one to three requests, whose frames follow each other or take turns. */
export function conversations(requests: fc.Arbitrary<HttpRequest>): fc.Arbitrary<Conversation> {
  return fc.array(requests, { minLength: 1, maxLength: 3 }).chain((some) =>
    fc
      .tuple(
        fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 2, arbitrary: settings }),
        fc.tuple(...some.map((request, index) => framesOf(request, 2 * index + 1))),
        fc.boolean(),
        fc.tuple(fc.array(extra, { maxLength: 3 }), inOneOf(20, goodbyes)),
      )
      .map(([first, streams, areMixed, [last, goodbye]]) => {
        const start: Frame = first ?? { type: 'settings', stream: 0, flags: 0, payload: Buffer.of() };
        const frames = areMixed ? byTurns(streams) : streams.flat();
        return { requests: some, frames: [start, ...frames, ...last, ...(goodbye ? [goodbye] : [])] };
      }),
  );
}

/** Takes one of each list, and so on. */
function byTurns<Item>(lists: readonly (readonly Item[])[]): Item[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, index) => lists.flatMap((list) => list.slice(index, index + 1))).flat();
}
