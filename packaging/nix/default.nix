# Builds calque from this tree: nix-build packaging/nix
{ pkgs ? import <nixpkgs> { } }:

pkgs.stdenv.mkDerivation {
  pname = "calque";
  version = "0.1.0";
  src = pkgs.lib.cleanSource ../..;

  nativeBuildInputs = [ pkgs.cmake pkgs.ninja pkgs.pkg-config ];
  buildInputs = [ pkgs.jansson pkgs.zlib ];
  cmakeFlags = [ "-DCMAKE_BUILD_TYPE=Release" "-DCALQUE_INSTALL_PYTHONDIR=share/calque/python" ];

  doInstallCheck = true;
  installCheckPhase = ''
    $out/bin/calque --version
    $out/bin/calque export alexnet --no-params -o alexnet.onnx
    $out/bin/calque check alexnet.onnx
  '';

  meta = {
    description = "Converts PyTorch models to ONNX without PyTorch";
    license = pkgs.lib.licenses.mit;
    mainProgram = "calque";
    platforms = pkgs.lib.platforms.unix;
  };
}
