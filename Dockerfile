# docker build -t graphctx .
# docker run --rm -v "$PWD/docs:/docs:ro" -v kb:/kb graphctx ingest /docs
# docker run --rm -i -v kb:/kb graphctx serve                            (stdio: the client starts this)
# docker run --rm -p 127.0.0.1:8765:8765 -v kb:/kb graphctx serve --transport http --host 0.0.0.0 \
#     --allowed-host localhost:8765 --allowed-host 127.0.0.1:8765 --allow-anonymous
#
# The last one has no authentication: it publishes the port on 127.0.0.1 alone. For others to reach it, give it bearer
# tokens instead: -v "$PWD/tokens.txt:/tokens.txt:ro" and --token-file /tokens.txt (readable for uid 10001).
FROM python:3.12-slim

WORKDIR /app
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY graphctx graphctx
RUN pip install --no-cache-dir . \
    && useradd --create-home --uid 10001 graphctx \
    && mkdir /kb && chown graphctx:graphctx /kb

USER graphctx
WORKDIR /home/graphctx
ENV GRAPHCTX_KB=/kb PYTHONUNBUFFERED=1
VOLUME /kb
EXPOSE 8765

ENTRYPOINT ["graphctx"]
CMD ["serve"]
