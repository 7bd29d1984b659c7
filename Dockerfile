# The service and its web console, for amd64 and arm64: docs/deploying.md.
ARG NODE=26.12.1-trixie-slim
ARG DEBIAN=trixie-slim

# The build of the console is the same for every platform.
FROM --platform=$BUILDPLATFORM node:${NODE} AS console
WORKDIR /app
COPY package.json package-lock.json tsconfig.json ./
COPY client ./client
COPY formats ./formats
COPY console/package.json ./console/
RUN npm ci --workspace=console --no-audit --no-fund
COPY src ./src
COPY console ./console
RUN npm run --workspace=console build

FROM node:${NODE} AS service
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --workspaces=false --omit=dev --omit=optional --no-audit --no-fund
COPY LICENSE ./
COPY bin ./bin
COPY client ./client
COPY formats ./formats
COPY web-hook ./web-hook
COPY src ./src
COPY --from=console /app/console/dist ./console/dist
# Fills the compile cache, which has a folder for each user.
COPY scripts/compile.mjs ./scripts/
RUN install -d -o node node_modules/.cache
USER node
RUN node scripts/compile.mjs && chmod -R a+rX node_modules/.cache

# Without npm and the headers of Node.
FROM debian:${DEBIAN}
LABEL org.opencontainers.image.title="bookkeeping" \
      org.opencontainers.image.description="Keeps book records behind a signed token, on SQLite or PostgreSQL" \
      org.opencontainers.image.licenses="MIT"
RUN apt-get update && apt-get install -y --no-install-recommends libatomic1 && rm -rf /var/lib/apt/lists/* \
    && install -d -o 1000 -g 1000 /data
WORKDIR /app
COPY --from=service /usr/local/bin/node /usr/local/bin/
COPY --from=service /app ./
# SQLite sorts the books for its search index in temporary files, which can be as large as the database.
ENV NODE_ENV=production DB_URL=sqlite:/data/books.db SQLITE_TMPDIR=/data
USER 1000:1000
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 8080) + '/healthz').then(({ ok }) => process.exit(ok ? 0 : 1))"]
ENTRYPOINT ["node", "--max-semi-space-size=8", "bin/bookkeeping.mjs"]
