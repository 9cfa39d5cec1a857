/** Progress of a request body. */
export interface Progress {
  readonly sentBytes: number;
  /** Undefined if not known in advance: for a stream, and for a form outside browsers. */
  readonly totalBytes: number | undefined;
}

type ReportProgress = (progress: Progress) => void;

/**
 * Sends a request like `fetch`, and reports the progress of its body. In a browser, progress is the bytes sent, which
 * only `XMLHttpRequest` reports. If the caller replaced `fetch` there, nothing is reported. Elsewhere, and for a
 * stream, progress is the bytes that the connection accepted.
 */
export async function sendWithProgress(
  report: ReportProgress,
  url: string,
  init: RequestInit & { readonly body: NonNullable<RequestInit['body']> },
  ownFetch: typeof fetch | undefined,
): Promise<Response> {
  const { body } = init;
  if (typeof XMLHttpRequest === 'undefined' || body instanceof ReadableStream)
    return (ownFetch ?? fetch)(url, counted(report, init));
  return ownFetch === undefined ? sendByXhr(report, url, init, body) : ownFetch(url, init);
}

/** Copies the request with a body that counts its bytes as they are read. */
function counted(report: ReportProgress, init: RequestInit & { readonly body: BodyInit }): RequestInit {
  const totalBytes = sizeOf(init.body);
  const { body, headers: own } = new Response(init.body);
  const headers = new Headers(init.headers);
  const type = own.get('content-type');
  if (type !== null && !headers.has('content-type')) headers.set('content-type', type);
  let sentBytes = 0;
  const count = (bytes: number) => {
    sentBytes += bytes;
    report({ sentBytes, totalBytes });
  };
  // Node requires `duplex` for a stream; browser types lack it.
  const counting = { ...init, headers, body: body && countedStream(body, count), duplex: 'half' };
  return counting;
}

function sizeOf(body: BodyInit): number | undefined {
  if (body instanceof Blob) return body.size;
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return body.byteLength;
  return typeof body === 'string' ? new Blob([body]).size : undefined;
}

/** Reads a body in pieces. Read as a whole, it would count as sent before its first byte is. */
const PIECE_BYTES = 64 * 1024;

function countedStream(body: ReadableStream<Uint8Array<ArrayBuffer>>, count: (bytes: number) => void) {
  const reader = body.getReader();
  let rest = new Uint8Array();
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        if (rest.byteLength === 0) {
          const { done, value } = await reader.read();
          if (done) {
            controller.close();
            return;
          }
          rest = value;
        }
        const piece = rest.subarray(0, PIECE_BYTES);
        rest = rest.subarray(PIECE_BYTES);
        controller.enqueue(piece);
        count(piece.byteLength);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** @throws {TypeError} if there is no answer, like `fetch` */
function sendByXhr(
  report: ReportProgress,
  url: string,
  { method = 'GET', headers, signal }: RequestInit,
  body: XMLHttpRequestBodyInit,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted(); // which rejects
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    request.open(method, url);
    for (const [name, value] of new Headers(headers)) request.setRequestHeader(name, value);
    request.responseType = 'blob';
    request.upload.onprogress = ({ loaded, total, lengthComputable }) =>
      report({ sentBytes: loaded, totalBytes: lengthComputable ? total : undefined });
    request.onload = () => resolve(responseOf(request));
    request.onerror = () => reject(new TypeError('The connection broke'));
    request.onabort = () => reject(signal?.reason);
    request.onloadend = () => signal?.removeEventListener('abort', abort);
    signal?.addEventListener('abort', abort);
    request.send(body);
  });
}

/** These have no body, and `Response` rejects one. */
const EMPTY_STATUS = [204, 205, 304];

function responseOf(request: XMLHttpRequest): Response {
  const { status, statusText } = request;
  const headers = new Headers();
  for (const line of request.getAllResponseHeaders().trim().split('\r\n')) {
    const [, name, value = ''] = /^(.+?): ?(.*)$/.exec(line) ?? [];
    if (name !== undefined) headers.append(name, value);
  }
  return new Response(EMPTY_STATUS.includes(status) ? null : request.response, { status, statusText, headers });
}
