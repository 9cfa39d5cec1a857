# syntax=docker/dockerfile:1

# The Node that `package.json` pins; a test holds the two together.
ARG NODE_VERSION=26.10.0

# The dashboard, which `npm ci` builds, with everything that building takes.
FROM node:${NODE_VERSION}-bookworm-slim AS build
WORKDIR /app
COPY . .
RUN npm ci

# What runs: the server's own dependencies, none of which needs its install script. The other workspaces are not here,
# or npm would take theirs along.
FROM node:${NODE_VERSION}-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY server/package.json server/
RUN npm ci --omit=dev --ignore-scripts --workspace server

# Node is one file beside these libraries: without npm and its like there is less to keep up to date.
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
COPY server/src server/src

ENV HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
USER switchboard
VOLUME ["/data"]
EXPOSE 8080
# Whether it answers at all, not whether it is ready: who waits for its database must not be restarted for that.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Node takes SIGTERM itself; it must not be a child of a shell or of npm.
CMD ["node", "server/src/main.ts"]
