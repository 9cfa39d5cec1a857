import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type createCore from '@ffmpeg/core';
import { ConversionError } from './task.ts';

type Core = Awaited<ReturnType<typeof createCore>>;

/** Of the memory of WebAssembly, in pages of 64 KiB: 512 MiB. */
const MAX_PAGES = 8192;

/** The part of the packets that may be damaged. By itself, ffmpeg goes on with two thirds of them. */
const MAX_ERROR_RATE = '0.25';

/**
 * The demuxer for each type. It is never left to ffmpeg to choose, because some of its formats are lists of other files
 * and addresses to open, such as playlists and `concat`.
 */
const DEMUXERS: Readonly<Record<string, string>> = {
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'audio/ogg': 'ogg',
  'video/ogg': 'ogg',
  'audio/mp4': 'mov',
  'audio/x-m4a': 'mov',
  'video/mp4': 'mov',
  'video/x-m4v': 'mov',
  'video/quicktime': 'mov',
  'video/3gpp': 'mov',
  'video/3gpp2': 'mov',
  'audio/aac': 'aac',
  'audio/amr': 'amr',
  'audio/flac': 'flac',
  'audio/aiff': 'aiff',
  'audio/x-aiff': 'aiff',
  'audio/x-ms-asf': 'asf',
  'video/x-ms-asf': 'asf',
  'audio/webm': 'matroska',
  'video/webm': 'matroska',
  'video/matroska': 'matroska',
  'video/x-matroska': 'matroska',
  'video/vnd.avi': 'avi',
  'video/x-msvideo': 'avi',
  'video/mpeg': 'mpeg',
  'video/mp2t': 'mpegts',
  'image/bmp': 'bmp_pipe',
};

export interface Stream {
  readonly codec_type?: string;
  readonly codec_name?: string;
  readonly pix_fmt?: string;
  readonly profile?: string;
  readonly width?: number;
  readonly height?: number;
  readonly channels?: number;
  readonly duration?: string;
  readonly side_data_list?: readonly { readonly rotation?: number }[];
  readonly disposition?: { readonly attached_pic?: number };
}

export interface Probe {
  readonly streams: readonly Stream[];
  readonly durationSeconds: number | undefined;
}

/**
 * ffmpeg as WebAssembly, for one file. It has a file system in memory, which contains nothing but the file, and the
 * demuxer and the protocol are given, so a file cannot make it open anything else.
 */
export class Ffmpeg {
  readonly #core: Core;
  readonly #input: readonly string[];

  private constructor(core: Core, demuxer: string) {
    this.#core = core;
    this.#input = ['-protocol_whitelist', 'file', '-f', demuxer, '-i', '/input'];
  }

  /** @throws {ConversionError} `missing`, `unreadable` */
  static async open(content: Uint8Array, mimeType: string): Promise<Ffmpeg> {
    const demuxer = DEMUXERS[mimeType];
    if (demuxer === undefined) throw new ConversionError('unreadable', `the type ${mimeType} cannot be converted`);
    const core = await newCore();
    core.FS.writeFile('/input', content);
    return new Ffmpeg(core, demuxer);
  }

  /** @throws {ConversionError} `unreadable` */
  probe(): Probe {
    const args = ['-v', 'error', '-print_format', 'json', '-show_streams', '-show_format'];
    // Its exit code is always -1 in this build.
    this.#run(() => this.#core.ffprobe(...args, '-o', '/probe.json', ...this.#input));
    // ffprobe wrote it, so a file controls only the values.
    const { streams = [], format } = parsed(this.#read('/probe.json')) as {
      streams?: Stream[];
      format?: { duration?: string };
    };
    if (streams.length === 0) throw new ConversionError('unreadable', 'its content is damaged');
    const seconds = Number(format?.duration);
    return { streams, durationSeconds: Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined };
  }

  /** Counts the frames of the first video track by reading the file, because its header can state anything. */
  countFrames(): number {
    const args = ['-v', 'error', '-print_format', 'json', '-select_streams', 'v:0', '-count_packets'];
    const shown = ['-show_entries', 'stream=nb_read_packets'];
    this.#run(() => this.#core.ffprobe(...args, ...shown, '-o', '/frames.json', ...this.#input));
    const { streams = [] } = parsed(this.#read('/frames.json')) as { streams?: { nb_read_packets?: string }[] };
    return Number(streams[0]?.nb_read_packets ?? 0);
  }

  /**
   * Converts the file, and returns the outputs.
   * @param before options of the input
   * @param outputs arguments of each output, without its name
   * @throws {ConversionError} `unreadable`
   */
  convert(before: readonly string[], outputs: readonly (readonly string[])[]): Uint8Array[] {
    const files = outputs.map((_, index) => `/output${index}`);
    const args = outputs.flatMap((output, index) => [...output, files[index] ?? '']);
    const code = this.#run(() =>
      this.#core.exec('-v', 'error', '-max_error_rate', MAX_ERROR_RATE, ...before, ...this.#input, ...args),
    );
    if (code !== 0) throw new ConversionError('unreadable', 'its content is damaged');
    return files.map((file) => this.#read(file));
  }

  #run(call: () => number): number {
    try {
      return call();
    } catch {
      throw new ConversionError('unreadable', 'its content is damaged, or too large to decode');
    }
  }

  #read(file: string): Uint8Array {
    try {
      return this.#core.FS.readFile(file);
    } catch {
      throw new ConversionError('unreadable', 'its content is damaged');
    }
  }
}

function parsed(json: Uint8Array): object {
  try {
    const value: unknown = JSON.parse(Buffer.from(json).toString('utf8'));
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

/**
 * Compiled once per process, which takes longer than most conversions. A module is code only: memory is its instance's.
 */
let wasm: Promise<{ readonly create: typeof createCore; readonly module: WebAssembly.Module }> | undefined;

/** A new instance for every file, so that a file finds nothing of the one before. */
async function newCore(): Promise<Core> {
  wasm ??= load().catch((error) => {
    wasm = undefined;
    throw error;
  });
  const { create, module } = await wasm;
  const core = await create({
    instantiateWasm: (imports, receive) => {
      const instance = new WebAssembly.Instance(module, imports);
      receive(instance, module);
      return instance.exports;
    },
  });
  core.setLogger(() => {});
  return core;
}

async function load() {
  const { create, code } = await readPackage();
  const module = await WebAssembly.compile(code);
  limitMemory();
  return { create, module };
}

async function readPackage() {
  try {
    const code = await readFile(fileURLToPath(import.meta.resolve('@ffmpeg/core/wasm')));
    // The library is for browsers' workers, and looks for this name.
    Object.assign(globalThis, { self: { location: { href: 'file:///' } } });
    const { default: create } = await import('@ffmpeg/core');
    return { create, code };
  } catch (cause) {
    const error = new ConversionError(
      'missing',
      'the server has no @ffmpeg/core, which converts audio and video; install it with `npm install @ffmpeg/core`',
    );
    error.cause = cause;
    throw error;
  }
}

function limitMemory(): void {
  const { grow } = WebAssembly.Memory.prototype;
  WebAssembly.Memory.prototype.grow = function (pages: number) {
    if (this.buffer.byteLength / 65_536 + pages > MAX_PAGES) throw new RangeError('The limit of memory is reached');
    return grow.call(this, pages);
  };
}
