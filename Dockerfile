# syntax=docker/dockerfile:1

# The Node version that `package.json` pins. A test compares the two.
ARG NODE_VERSION=26.10.0

# Builds the SDK, the dashboard, the MCP Apps and the documentation: `npm ci` runs the build. The result is the same for
# every kind of processor, so this stage runs on that of the machine.
FROM --platform=$BUILDPLATFORM node:${NODE_VERSION}-bookworm-slim AS build
WORKDIR /app
COPY . .
RUN npm ci

# Installs the server's own dependencies, none of which needs its install script. The other workspaces are left out,
# because npm would install their dependencies too.
FROM node:${NODE_VERSION}-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY server/package.json server/
# With `--build-arg WITHOUT_OPTIONAL=1`, the packages that THIRD-PARTY.md names are left out.
ARG WITHOUT_OPTIONAL=
RUN npm ci --omit=dev ${WITHOUT_OPTIONAL:+--omit=optional} --ignore-scripts --workspace server
# Files that Node never loads: source maps, and TypeScript with its declarations. Licenses stay.
RUN find node_modules server/node_modules -type f \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' \) -delete
# The package leaves ffmpeg to its users. The image has the one of its two builds that the server loads.
RUN --mount=type=bind,from=build,source=/app/node_modules/@ffmpeg/core,target=/ffmpeg \
  if [ -z "$WITHOUT_OPTIONAL" ]; then \
    mkdir -p node_modules/@ffmpeg/core/dist \
    && cp /ffmpeg/package.json node_modules/@ffmpeg/core \
    && cp -r /ffmpeg/dist/esm node_modules/@ffmpeg/core/dist; \
  fi

# Node needs only its binary and these libraries. Without npm there is less to keep up to date.
FROM debian:bookworm-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends libatomic1 libstdc++6 ca-certificates \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin switchboard \
  && install -d -o switchboard -g switchboard -m 700 /data /media
COPY --from=dependencies /usr/local/bin/node /usr/local/bin/node
WORKDIR /app
COPY --from=dependencies /app ./
COPY --from=build /app/dashboard/dist dashboard/dist
COPY --from=build /app/mcp-apps/dist mcp-apps/dist
COPY --from=build /app/site/dist site/dist
COPY LICENSE THIRD-PARTY.md ./
COPY server/start.js server/healthcheck.sh server/
COPY server/src server/src
# The command line uses the client, a part of which the build has generated.
COPY --from=build /app/sdk/src sdk/src
RUN install -d -o switchboard -g switchboard server/compiled
USER switchboard
# Compiled code for a fast first start. Node finds it only for the same user and kind of processor.
RUN node server/src/compile.ts

ENV HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
VOLUME ["/data"]
EXPOSE 8080
# Checks /health, not /ready: a server that waits for its database must not be restarted for that.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["timeout", "--signal=KILL", "2", "bash", "server/healthcheck.sh"]
# Node handles SIGTERM itself, so it must not be a child of a shell or of npm.
CMD ["node", "server/start.js"]
