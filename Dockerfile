# An image of soft-sed-eval. Our tests look at this file; where they run there is no Docker to build it with.
#
#     docker build -t soft-sed-eval .
#     docker run --rm -v "$PWD:/data:ro" soft-sed-eval ref.tsv sys.tsv
#     docker run --rm -v "$PWD:/data" -u "$(id -u):$(id -g)" soft-sed-eval report ref.tsv sys.tsv -o report.html

FROM python:3.11.11-slim-bookworm AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY tools/share tools/share
COPY sedeval_soft sedeval_soft
RUN python -m venv /opt/soft-sed-eval && /opt/soft-sed-eval/bin/pip install .

FROM python:3.11.11-slim-bookworm
LABEL org.opencontainers.image.title="soft-sed-eval" \
      org.opencontainers.image.description="Evaluate sound event detection against hard and soft references." \
      org.opencontainers.image.licenses="MIT"
COPY --from=build /opt/soft-sed-eval /opt/soft-sed-eval
# Who runs it has no home: what libraries keep goes where it is lost.
ENV PATH=/opt/soft-sed-eval/bin:$PATH MPLCONFIGDIR=/tmp/matplotlib NUMBA_CACHE_DIR=/tmp/numba
USER 65534:65534
WORKDIR /data
ENTRYPOINT ["soft-sed-eval"]
CMD ["--help"]
