# Build with `docker build -t pressroom .` in a clone; compose.yaml runs it. See docs/how-to/run-with-docker.md.
FROM docker.io/library/python:3.13-slim
COPY . /src
RUN python -m venv /opt/pressroom \
 && /opt/pressroom/bin/pip install --no-cache-dir --require-hashes -r /src/.lock/runtime.txt \
 && /opt/pressroom/bin/pip install --no-cache-dir --no-deps --no-build-isolation /src/core /src/plugins/* \
 && rm -rf /src \
 && useradd --system pressroom && mkdir /data && chown pressroom /data
USER pressroom
ENV PATH=/opt/pressroom/bin:$PATH PRESSROOM_SERVER__HOST=0.0.0.0 PRESSROOM_STORAGE__PATH=/data
VOLUME /data
EXPOSE 8000
HEALTHCHECK CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/healthz', timeout=2)"]
CMD ["pressroom", "serve"]
