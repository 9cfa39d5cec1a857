import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';

/*
 * URLs that come from a network are chosen by strangers: the sender of a message, or somebody who plays the phone of a
 * session. The server fetches them only from the network's own hosts, over https, without following redirects, and
 * within limits of size and time. Every request for such a URL uses a dispatcher that is made here, including those of
 * a network's client library.
 */

export interface Pins {
  /**
   * The allowed hosts, with a port if it is not 443. A leading dot matches all subdomains: `.whatsapp.net` allows any
   * host of that domain. An origin, such as `http://10.0.0.1:80`, is allowed as it is, for a host that the operator has
   * configured.
   */
  readonly hosts: readonly string[];
  /** Limit of a response, in bytes on the wire. */
  readonly maxBytes: number;
  /** Deadline of the whole request, from waiting for a connection to the last byte. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** The request was not made, or its response was not read, because the host or the response is not allowed. */
export class PinnedHostError extends Error {}

/** Wraps a dispatcher so that it only calls the pinned hosts. Closing the result closes the dispatcher. */
export function pinHosts(dispatcher: Dispatcher, pins: Pins): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => {
    const origin = new URL(String(options.origin));
    if (!isPinned(origin, pins.hosts)) throw new PinnedHostError(`${origin.host} is not a host of this network`);
    return dispatch(options, limitAnswer(handler, pins));
  });
}

/** Whether a URL leads to one of these hosts, over https. */
export function isPinned({ origin, protocol, host, hostname }: URL, hosts: readonly string[]): boolean {
  if (hosts.includes(origin)) return true;
  if (protocol !== 'https:') return false;
  return hosts.some((pin) => (pin.startsWith('.') ? host === hostname && host.endsWith(pin) : host === pin));
}

/** Passes a response on until it exceeds a limit, which fails the request. */
function limitAnswer(
  handler: Dispatcher.DispatchHandler,
  { maxBytes, timeoutMs, clock }: Pins,
): Dispatcher.DispatchHandler {
  const late = new PinnedHostError(`the file did not come within ${timeoutMs / 1000} s`);
  const tooLarge = new PinnedHostError(`the file is larger than ${maxBytes} bytes`);
  let started: Dispatcher.DispatchController | undefined;
  let isLate = false;
  let received = 0;
  const cancelDeadline = clock.after(timeoutMs, () => {
    isLate = true;
    started?.abort(late);
  });
  return {
    onRequestStart(controller, context) {
      started = controller;
      handler.onRequestStart?.(controller, context);
      // The deadline may have passed while the request waited for its connection.
      if (isLate) controller.abort(late);
    },
    onResponseStart(controller, status, headers, statusMessage) {
      if (status < 200) return;
      if (status >= 300 && status < 400) controller.abort(new PinnedHostError(`the host redirects (${status})`));
      else if (Number(headers['content-length']) > maxBytes) controller.abort(tooLarge);
      else handler.onResponseStart?.(controller, status, headers, statusMessage);
    },
    onResponseData(controller, chunk) {
      received += chunk.length;
      if (received > maxBytes) controller.abort(tooLarge);
      else handler.onResponseData?.(controller, chunk);
    },
    onResponseEnd(controller, trailers) {
      cancelDeadline();
      handler.onResponseEnd?.(controller, trailers);
    },
    onResponseError(controller, error) {
      cancelDeadline();
      handler.onResponseError?.(controller, error);
    },
  };
}
